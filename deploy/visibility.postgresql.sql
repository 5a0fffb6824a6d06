-- The indexes of Temporal's visibility store on PostgreSQL. See
-- visibility.sqlite.sql, which leaves the same ones.

CREATE INDEX IF NOT EXISTS wakecall_by_status_and_time ON executions_visibility (namespace_id, status, execution_time);
CREATE INDEX IF NOT EXISTS wakecall_by_division ON executions_visibility (namespace_id, TemporalNamespaceDivision)
  WHERE TemporalNamespaceDivision IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_parent ON executions_visibility (namespace_id, parent_workflow_id)
  WHERE parent_workflow_id IS NOT NULL;

DO $$
DECLARE
  superfluous record;
BEGIN
  FOR superfluous IN
    SELECT indexname FROM pg_indexes WHERE tablename = 'executions_visibility'
      AND indexname NOT LIKE 'wakecall_%' AND indexname NOT LIKE '%_pkey' AND indexname NOT LIKE 'by_keyword___'
      AND indexname NOT IN ('default_idx', 'by_execution_time', 'by_workflow_id', 'by_workflow_type', 'by_status', 'by_root_workflow_id')
  LOOP
    EXECUTE format('DROP INDEX %I', superfluous.indexname);
  END LOOP;
END $$;
