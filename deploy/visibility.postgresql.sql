-- The indexes of Temporal's visibility store on PostgreSQL. See
-- visibility.sqlite.sql, which leaves the same ones and some that PostgreSQL, which
-- knows how much there is of what, finds its way without.

-- Open timers that are past their time, among a million that are not. PostgreSQL takes
-- status and time to be independent, so it expects as many of them as half of those that
-- have ended. It counts them without reading the table only if the index has all columns
-- that the question names. Wakecall's keywords are among the first six, unless a namespace
-- had others before; ten would not fit into an entry if all were long.
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_execution ON executions_visibility
  (namespace_id, status, execution_time)
  INCLUDE (workflow_type_name, TemporalNamespaceDivision, Keyword01, Keyword02, Keyword03, Keyword04, Keyword05, Keyword06);
CREATE INDEX IF NOT EXISTS wakecall_by_division ON executions_visibility (namespace_id, TemporalNamespaceDivision)
  WHERE TemporalNamespaceDivision IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_parent ON executions_visibility (namespace_id, parent_workflow_id)
  WHERE parent_workflow_id IS NOT NULL;

-- A row without the attribute costs nothing here.
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_01 ON executions_visibility
  (namespace_id, Keyword01, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword01 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_02 ON executions_visibility
  (namespace_id, Keyword02, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword02 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_03 ON executions_visibility
  (namespace_id, Keyword03, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword03 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_04 ON executions_visibility
  (namespace_id, Keyword04, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword04 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_05 ON executions_visibility
  (namespace_id, Keyword05, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword05 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_06 ON executions_visibility
  (namespace_id, Keyword06, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword06 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_07 ON executions_visibility
  (namespace_id, Keyword07, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword07 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_08 ON executions_visibility
  (namespace_id, Keyword08, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword08 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_09 ON executions_visibility
  (namespace_id, Keyword09, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword09 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_10 ON executions_visibility
  (namespace_id, Keyword10, (COALESCE(close_time, '9999-12-31 23:59:59')) DESC, start_time DESC, run_id)
  WHERE Keyword10 IS NOT NULL;

-- Timers by their due time, for the same questions.
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_datetime_01 ON executions_visibility
  (namespace_id, status, Datetime01)
  INCLUDE (workflow_type_name, TemporalNamespaceDivision, Keyword01, Keyword02, Keyword03, Keyword04, Keyword05, Keyword06)
  WHERE Datetime01 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_datetime_02 ON executions_visibility
  (namespace_id, status, Datetime02)
  INCLUDE (workflow_type_name, TemporalNamespaceDivision, Keyword01, Keyword02, Keyword03, Keyword04, Keyword05, Keyword06)
  WHERE Datetime02 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_status_and_datetime_03 ON executions_visibility
  (namespace_id, status, Datetime03)
  INCLUDE (workflow_type_name, TemporalNamespaceDivision, Keyword01, Keyword02, Keyword03, Keyword04, Keyword05, Keyword06)
  WHERE Datetime03 IS NOT NULL;

-- Timers by their labels. SQLite has a table of its own for them.
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_list_01 ON executions_visibility USING GIN (namespace_id, KeywordList01 jsonb_path_ops)
  WHERE KeywordList01 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_list_02 ON executions_visibility USING GIN (namespace_id, KeywordList02 jsonb_path_ops)
  WHERE KeywordList02 IS NOT NULL;
CREATE INDEX IF NOT EXISTS wakecall_by_keyword_list_03 ON executions_visibility USING GIN (namespace_id, KeywordList03 jsonb_path_ops)
  WHERE KeywordList03 IS NOT NULL;

DO $$
DECLARE
  superfluous record;
BEGIN
  FOR superfluous IN
    SELECT indexname FROM pg_indexes WHERE tablename = 'executions_visibility'
      AND (indexname NOT LIKE 'wakecall_%' OR indexname LIKE 'wakecall_by_datetime_%'
        OR indexname IN ('wakecall_by_status_and_time', 'wakecall_by_status_and_due'))
      AND indexname NOT LIKE '%_pkey'
      AND indexname NOT IN ('default_idx', 'by_workflow_id', 'by_workflow_type', 'by_status', 'by_root_workflow_id')
  LOOP
    EXECUTE format('DROP INDEX %I', superfluous.indexname);
  END LOOP;
END $$;
