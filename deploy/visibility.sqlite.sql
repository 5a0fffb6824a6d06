-- The indexes of Temporal's visibility store, here on SQLite: those that Wakecall,
-- the command-line tools and the Web UI look things up by. Each costs every timer,
-- at its booking and at its end. May be run again.

-- Open timers that are past their time, among a million that are not.
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_time ON executions_visibility (namespace_id, status, execution_time);

-- Of these only few rows have a value: schedules, batches, children.
CREATE INDEX IF NOT EXISTS wakecall_by_division ON executions_visibility (namespace_id, TemporalNamespaceDivision)
  WHERE TemporalNamespaceDivision IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_parent ON executions_visibility (namespace_id, parent_workflow_id)
  WHERE parent_workflow_id IS NOT NULL;

-- Attributes that no query of Wakecall names. A query that does still works, and
-- reads every row that its other conditions leave.
DROP INDEX IF EXISTS by_batcher_user;
DROP INDEX IF EXISTS by_binary_checksums;
DROP INDEX IF EXISTS by_bool_01;
DROP INDEX IF EXISTS by_bool_02;
DROP INDEX IF EXISTS by_bool_03;
DROP INDEX IF EXISTS by_build_ids;
DROP INDEX IF EXISTS by_datetime_01;
DROP INDEX IF EXISTS by_datetime_02;
DROP INDEX IF EXISTS by_datetime_03;
DROP INDEX IF EXISTS by_double_01;
DROP INDEX IF EXISTS by_double_02;
DROP INDEX IF EXISTS by_double_03;
DROP INDEX IF EXISTS by_execution_duration;
DROP INDEX IF EXISTS by_history_length;
DROP INDEX IF EXISTS by_history_size_bytes;
DROP INDEX IF EXISTS by_int_01;
DROP INDEX IF EXISTS by_int_02;
DROP INDEX IF EXISTS by_int_03;
DROP INDEX IF EXISTS by_keyword_list_01;
DROP INDEX IF EXISTS by_keyword_list_02;
DROP INDEX IF EXISTS by_keyword_list_03;
DROP INDEX IF EXISTS by_parent_run_id;
DROP INDEX IF EXISTS by_parent_workflow_id;
DROP INDEX IF EXISTS by_root_run_id;
DROP INDEX IF EXISTS by_state_transition_count;
DROP INDEX IF EXISTS by_task_queue;
DROP INDEX IF EXISTS by_temporal_bool_01;
DROP INDEX IF EXISTS by_temporal_bool_02;
DROP INDEX IF EXISTS by_temporal_change_version;
DROP INDEX IF EXISTS by_temporal_datetime_01;
DROP INDEX IF EXISTS by_temporal_datetime_02;
DROP INDEX IF EXISTS by_temporal_double_01;
DROP INDEX IF EXISTS by_temporal_double_02;
DROP INDEX IF EXISTS by_temporal_external_payload_count;
DROP INDEX IF EXISTS by_temporal_external_payload_size_bytes;
DROP INDEX IF EXISTS by_temporal_int_01;
DROP INDEX IF EXISTS by_temporal_int_02;
DROP INDEX IF EXISTS by_temporal_keyword_01;
DROP INDEX IF EXISTS by_temporal_keyword_02;
DROP INDEX IF EXISTS by_temporal_keyword_03;
DROP INDEX IF EXISTS by_temporal_keyword_04;
DROP INDEX IF EXISTS by_temporal_keyword_list_01;
DROP INDEX IF EXISTS by_temporal_keyword_list_02;
DROP INDEX IF EXISTS by_temporal_low_cardinality_keyword_01;
DROP INDEX IF EXISTS by_temporal_namespace_division;
DROP INDEX IF EXISTS by_temporal_pause_info;
DROP INDEX IF EXISTS by_temporal_reported_problems;
DROP INDEX IF EXISTS by_temporal_schedule_paused;
DROP INDEX IF EXISTS by_temporal_scheduled_by_id;
DROP INDEX IF EXISTS by_temporal_scheduled_start_time;
DROP INDEX IF EXISTS by_temporal_worker_deployment;
DROP INDEX IF EXISTS by_temporal_worker_deployment_version;
DROP INDEX IF EXISTS by_temporal_workflow_versioning_behavior;
DROP INDEX IF EXISTS by_text_01;
DROP INDEX IF EXISTS by_text_02;
DROP INDEX IF EXISTS by_text_03;
DROP INDEX IF EXISTS by_used_deployment_versions;
