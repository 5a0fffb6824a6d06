-- The indexes of Temporal's visibility store, here on SQLite: those that Wakecall,
-- the command-line tools and the Web UI look things up by. Each costs every timer,
-- at its booking and at its end. May be run again.

-- Open timers that are past their time, among a million that are not; and how many
-- there are of each status, read from the index alone.
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_due ON executions_visibility
  (namespace_id, status, execution_time, TemporalNamespaceDivision);
DROP INDEX IF EXISTS wakecall_by_status_and_time;

-- Policies, or failed timers, among a million others that are open or delivered.
CREATE INDEX IF NOT EXISTS wakecall_by_type_and_status ON executions_visibility
  (namespace_id, workflow_type_name, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, TemporalNamespaceDivision);

-- Of these only few rows have a value: schedules, batches, children.
CREATE INDEX IF NOT EXISTS wakecall_by_division ON executions_visibility (namespace_id, TemporalNamespaceDivision)
  WHERE TemporalNamespaceDivision IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_parent ON executions_visibility (namespace_id, parent_workflow_id)
  WHERE parent_workflow_id IS NOT NULL;

-- Temporal assigns Wakecall's keywords to any of the ten keywords. A row
-- without the attribute costs nothing here.
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_01 ON executions_visibility
  (namespace_id, Keyword01, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword01 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_02 ON executions_visibility
  (namespace_id, Keyword02, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword02 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_03 ON executions_visibility
  (namespace_id, Keyword03, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword03 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_04 ON executions_visibility
  (namespace_id, Keyword04, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword04 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_05 ON executions_visibility
  (namespace_id, Keyword05, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword05 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_06 ON executions_visibility
  (namespace_id, Keyword06, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword06 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_07 ON executions_visibility
  (namespace_id, Keyword07, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword07 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_08 ON executions_visibility
  (namespace_id, Keyword08, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword08 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_09 ON executions_visibility
  (namespace_id, Keyword09, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword09 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_10 ON executions_visibility
  (namespace_id, Keyword10, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id)
  WHERE Keyword10 IS NOT NULL;

-- Timers by their due time, which is a search attribute: to which of the three it is
-- assigned is Temporal's, as with the keywords. How many fall due in a minute, of one
-- business type, is counted from the index alone.
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_datetime_01 ON executions_visibility
  (namespace_id, status, Datetime01, workflow_type_name, TemporalNamespaceDivision, Keyword01, Keyword02, Keyword03, Keyword04, Keyword05, Keyword06, Keyword07, Keyword08, Keyword09, Keyword10)
  WHERE Datetime01 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_datetime_02 ON executions_visibility
  (namespace_id, status, Datetime02, workflow_type_name, TemporalNamespaceDivision, Keyword01, Keyword02, Keyword03, Keyword04, Keyword05, Keyword06, Keyword07, Keyword08, Keyword09, Keyword10)
  WHERE Datetime02 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_datetime_03 ON executions_visibility
  (namespace_id, status, Datetime03, workflow_type_name, TemporalNamespaceDivision, Keyword01, Keyword02, Keyword03, Keyword04, Keyword05, Keyword06, Keyword07, Keyword08, Keyword09, Keyword10)
  WHERE Datetime03 IS NOT NULL;
DROP INDEX IF EXISTS wakecall_by_due_01;
DROP INDEX IF EXISTS wakecall_by_due_02;
DROP INDEX IF EXISTS wakecall_by_due_03;
DROP INDEX IF EXISTS wakecall_by_datetime_01;
DROP INDEX IF EXISTS wakecall_by_datetime_02;
DROP INDEX IF EXISTS wakecall_by_datetime_03;
DROP INDEX IF EXISTS by_execution_time;

-- Timers of one business type in one state, and how many there are.
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_01_and_status ON executions_visibility
  (namespace_id, Keyword01, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword01 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_02_and_status ON executions_visibility
  (namespace_id, Keyword02, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword02 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_03_and_status ON executions_visibility
  (namespace_id, Keyword03, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword03 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_04_and_status ON executions_visibility
  (namespace_id, Keyword04, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword04 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_05_and_status ON executions_visibility
  (namespace_id, Keyword05, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword05 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_06_and_status ON executions_visibility
  (namespace_id, Keyword06, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword06 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_07_and_status ON executions_visibility
  (namespace_id, Keyword07, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword07 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_08_and_status ON executions_visibility
  (namespace_id, Keyword08, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword08 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_09_and_status ON executions_visibility
  (namespace_id, Keyword09, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword09 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_10_and_status ON executions_visibility
  (namespace_id, Keyword10, status, (COALESCE(close_time, '9999-12-31 23:59:59+00:00')) DESC, start_time DESC, run_id, workflow_type_name, TemporalNamespaceDivision)
  WHERE Keyword10 IS NOT NULL;
DROP INDEX IF EXISTS by_keyword_01;
DROP INDEX IF EXISTS by_keyword_02;
DROP INDEX IF EXISTS by_keyword_03;
DROP INDEX IF EXISTS by_keyword_04;
DROP INDEX IF EXISTS by_keyword_05;
DROP INDEX IF EXISTS by_keyword_06;
DROP INDEX IF EXISTS by_keyword_07;
DROP INDEX IF EXISTS by_keyword_08;
DROP INDEX IF EXISTS by_keyword_09;
DROP INDEX IF EXISTS by_keyword_10;

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

-- What an index is worth, in rows for each value of its columns. SQLite's planner
-- guesses that all are worth the same, and would look for a policy among all open
-- timers. These are no statistics: they rank the indexes, and keep the plans as they
-- are tested, whatever is stored. See https://sqlite.org/fileformat2.html#stat1tab.
ANALYZE sqlite_schema;
DELETE FROM sqlite_stat1 WHERE tbl = 'executions_visibility';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('executions_visibility', 'sqlite_autoindex_executions_visibility_1', '1000000 1000000 1'),
  ('executions_visibility', 'default_idx', '1000000 1000000 2 2 1'),
  ('executions_visibility', 'by_workflow_id', '1000000 1000000 2 2 1 1'),
  ('executions_visibility', 'by_root_workflow_id', '1000000 1000000 2 2 1 1'),
  ('executions_visibility', 'by_workflow_type', '1000000 1000000 300000 2 2 1'),
  ('executions_visibility', 'by_status', '1000000 1000000 2500 2 2 1'),
  ('executions_visibility', 'wakecall_by_type_and_status', '1000000 1000000 300000 2000 2 2 1 1'),
  ('executions_visibility', 'wakecall_by_status_and_due', '1000000 100000 400 2 2 sz=80'),
  ('executions_visibility', 'wakecall_by_division', '1000 1000 10'),
  ('executions_visibility', 'wakecall_by_parent', '1000 1000 10'),
  ('executions_visibility', 'wakecall_by_status_and_datetime_01', '1000000 100000 2 2 2 2 2 2 2 2 2 2 2 2 2 2'),
  ('executions_visibility', 'wakecall_by_status_and_datetime_02', '1000000 100000 2 2 2 2 2 2 2 2 2 2 2 2 2 2'),
  ('executions_visibility', 'wakecall_by_status_and_datetime_03', '1000000 100000 2 2 2 2 2 2 2 2 2 2 2 2 2 2'),
  ('executions_visibility', 'wakecall_by_keyword_01', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_02', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_03', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_04', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_05', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_06', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_07', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_08', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_09', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_10', '1000000 1000000 20000 2 2 1'),
  ('executions_visibility', 'wakecall_by_keyword_01_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_02_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_03_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_04_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_05_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_06_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_07_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_08_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_09_and_status', '1000000 1000000 20000 250 2 2 1 1 1'),
  ('executions_visibility', 'wakecall_by_keyword_10_and_status', '1000000 1000000 20000 250 2 2 1 1 1');

-- Temporal may have the file open: only this makes an open connection read them.
ANALYZE sqlite_schema;
