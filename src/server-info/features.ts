/**
 * Features of the API that older servers lack, sorted: a client looks for one before it relies on a member that an
 * older server would ignore. Each is described in docs/api-guide.md. None is removed within a major version.
 */
export const FEATURES: readonly string[] = [
  'accepts',
  'active_controls_filter',
  'agent_links',
  'audit',
  'control_pages',
  'control_parts',
  'control_totals',
  'decision_id',
  'event_errors',
  'event_steps',
  'event_totals',
  'exact_counts',
  'explain_min_revision',
  'explain_step_json',
  'filter_enums',
  'flush_events',
  'if_version',
  'omit_controls',
  'outcome',
  'publish_events',
  'server_state',
  'session_id',
  'step_id',
  'stream_cancel',
  'stream_notice',
  'timeout',
  'traceparent',
];
