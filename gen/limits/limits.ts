// Made by scripts/generate-limits.mjs of the rules in the proto files: run "npm run generate:code".

/** The limits of fields, by message. Lengths count UTF-16 code units, durations milliseconds; `above` is exclusive. */
export const LIMITS = {
  AccessDenial: {
    evaluation_id: { pattern: /^[0-9]{1,10}$/ },
    step_sha256: { pattern: /^[0-9a-f]{64}$/ },
  },
  CreateAccessRequestRequest: {
    agent_name: { min: 10, max: 255 },
  },
  GetAccessRequestRequest: {
    agent_name: { min: 10, max: 255 },
  },
  CancelAccessRequestRequest: {
    agent_name: { min: 10, max: 255 },
  },
  EvaluateLitellmGuardrailRequest: {
    agent: { max: 1024 },
  },
  EvaluateGatewayPromptRequest: {
    agent: { max: 1024 },
  },
  EvaluateGatewayCompletionRequest: {
    agent: { max: 1024 },
  },
  EvaluateAgentHookRequest: {
    agent: { max: 1024 },
  },
  ListAgentsRequest: {
    labels: { max: 10 },
  },
  InitAgentRequest: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    if_version: { min: 0 },
  },
  Agent: {
    agent_name: { min: 10, max: 255 },
  },
  StepDefinition: {
    type: { min: 1 },
    name: { min: 1 },
  },
  EvaluatorRegistration: {
    name: { min: 1, max: 255 },
    description: { max: 1000 },
  },
  StepKey: {
    type: { min: 1 },
  },
  UpdateAgentRequest: {
    if_version: { min: 0 },
  },
  DeleteAgentRequest: {
    if_version: { min: 0 },
  },
  ListAgentControlsRequest: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    page_size: { min: 1, max: 1000 },
    max_message_bytes: { min: 1024 },
  },
  WatchControlsRequest: {
    from_revision: { min: 0 },
    max_message_bytes: { min: 65536 },
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
  },
  AddAgentControlRequest: {
    if_version: { min: 0 },
  },
  Step: {
    type: { min: 1 },
    name: { min: 1 },
  },
  EvaluateRequest: {
    agent_name: { min: 10, max: 255 },
    min_revision: { min: 0 },
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    session_id: { min: 1, max: 255 },
    step_id: { min: 1, max: 255 },
    traceparent: { max: 512 },
    timeout: { above: 0, max: 3600000 },
    accepts: { max: 16 },
    step_error: { max: 4096 },
  },
  EvaluateBatchRequest: {
    evaluations: { min: 1, max: 1000 },
  },
  ExplainRequest: {
    agent_name: { min: 10, max: 255 },
    min_revision: { min: 0 },
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    session_id: { min: 1, max: 255 },
    step_id: { min: 1, max: 255 },
    step_error: { max: 4096 },
  },
  ListApprovalsRequest: {
    limit: { min: 1, max: 100 },
    agent_name: { min: 10, max: 255 },
    session_id: { min: 1, max: 255 },
    decided_by: { min: 1, max: 255 },
  },
  DecideApprovalRequest: {
    comment: { min: 1, max: 1000 },
    step_sha256: { pattern: /^[0-9a-f]{64}$/ },
  },
  CancelApprovalRequest: {
    agent_name: { min: 10, max: 255 },
    reason: { min: 1, max: 500 },
  },
  AwaitApprovalRequest: {
    agent_name: { min: 10, max: 255 },
    wait: { min: 0, max: 60000 },
  },
  WatchApprovalsRequest: {
    agent_name: { min: 10, max: 255 },
    approval_ids: { max: 1000 },
  },
  ListAuditEntriesRequest: {
    min_revision: { min: 0 },
    max_revision: { min: 0 },
    limit: { min: 1, max: 100 },
    actor_contains: { max: 1024 },
    action_contains: { max: 1024 },
    resource_contains: { max: 1024 },
  },
  ExportAuditEntriesRequest: {
    min_revision: { min: 0 },
    max_revision: { min: 0 },
    actor_contains: { max: 1024 },
    action_contains: { max: 1024 },
    resource_contains: { max: 1024 },
  },
  VerifyAuditRequest: {
    after_position: { min: 0 },
  },
  ExchangeRuntimeTokenRequest: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
  },
  EvaluateAccessesRequest: {
    evaluations: { max: 1000 },
  },
  ApplyConfigurationRequest: {
    owner: { min: 1, max: 128, pattern: /^[A-Za-z0-9._:/-]+$/ },
    documents: { max: 10000 },
    overwrite: { max: 10000, items: { min: 1, max: 512 } },
    revision: { min: 0 },
    note: { max: 500 },
  },
  ExportConfigurationRequest: {
    owner: { min: 1, max: 128, pattern: /^[A-Za-z0-9._:/-]+$/ },
  },
  LintConfigurationRequest: {
    documents: { max: 10000 },
  },
  CreateControlBindingRequest: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    control_id: { min: 1 },
  },
  ListControlBindingsRequest: {
    limit: { min: 1, max: 100 },
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    control_id: { min: 1 },
  },
  UpsertControlBindingRequest: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    control_id: { min: 1 },
  },
  UpdateControlBindingByKeyRequest: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    control_id: { min: 1 },
  },
  DeleteControlBindingByKeyRequest: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
    control_id: { min: 1 },
  },
  CreateControlRequest: {
    name: { min: 1, max: 255, pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/ },
  },
  ListControlsRequest: {
    limit: { min: 1, max: 100 },
    step_name: { max: 1024 },
    attachment_target_type: { min: 1, max: 255 },
    attachment_target_id: { min: 1, max: 255 },
  },
  InspectExpressionRequest: {
    expression: { max: 65536 },
    cursor: { min: 0, max: 65536 },
  },
  UpdateControlRequest: {
    name: { min: 1, max: 255, pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/ },
    if_version: { min: 0 },
  },
  DeleteControlRequest: {
    if_version: { min: 0 },
  },
  CloneAndBindControlRequest: {
    name: { min: 1, max: 255, pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/ },
    idempotency_key: { min: 1, max: 255 },
  },
  NewTargetBinding: {
    target_type: { min: 1, max: 255 },
    target_id: { min: 1, max: 255 },
  },
  ListControlAgentsRequest: {
    limit: { min: 1, max: 100 },
  },
  ListControlPoliciesRequest: {
    limit: { min: 1, max: 100 },
  },
  ListControlVersionsRequest: {
    limit: { min: 1, max: 100 },
  },
  RestoreControlVersionRequest: {
    if_version: { min: 0 },
  },
  SetControlDataRequest: {
    if_version: { min: 0 },
  },
  ListCoverageRequest: {
    limit: { min: 1, max: 50 },
  },
  SetExpectationsRequest: {
    expectations: { max: 20 },
  },
  WantedExpectation: {
    point: { min: 1, max: 64, pattern: /^[A-Za-z0-9_.-]*$/ },
    interval_seconds: { min: 60, max: 2592000 },
  },
  CreateHaltRequest: {
    agent_name: { min: 10, max: 255 },
    session_id: { min: 1, max: 255 },
    step_name: { min: 1, max: 255 },
    reason: { min: 1, max: 500 },
    expires_at: { maxDays: 365 },
    idempotency_key: { min: 1, max: 255 },
  },
  ListHaltsRequest: {
    limit: { min: 1, max: 100 },
  },
  LiftHaltRequest: {
    reason: { min: 1, max: 500 },
  },
  CreateKeyRequest: {
    name: { min: 1, max: 255 },
    agents: { max: 1000 },
    owner: { min: 1, max: 255 },
    namespace: { pattern: /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/ },
    idempotency_key: { min: 1, max: 255 },
  },
  ListKeysRequest: {
    limit: { min: 1, max: 100 },
  },
  RotateKeyRequest: {
    overlap_seconds: { min: 0, max: 2592000 },
  },
  MemoryKeyName: {
    key_id: { min: 1, max: 255 },
    agent_name: { min: 10, max: 255 },
    session_id: { min: 1, max: 255 },
  },
  ListLimitsRequest: {
    min_used: { above: 0, max: 1 },
    limit: { min: 1, max: 100 },
  },
  ResetMemoryKeyRequest: {
    reason: { max: 500 },
  },
  CreateNamespaceRequest: {
    name: { min: 1, max: 63, pattern: /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/ },
    display_name: { min: 1, max: 255 },
  },
  ListNamespacesRequest: {
    limit: { min: 1, max: 100 },
  },
  UpdateNamespaceRequest: {
    display_name: { min: 1, max: 255 },
  },
  CreateDestinationRequest: {
    name: { min: 1, max: 255 },
    url: { max: 2048 },
    recipients: { max: 20, items: { min: 3, max: 254, pattern: /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]+$/ } },
    kinds: { min: 1 },
    idempotency_key: { min: 1, max: 255 },
  },
  ListDestinationsRequest: {
    limit: { min: 1, max: 100 },
  },
  UpdateDestinationRequest: {
    name: { min: 1, max: 255 },
    url: { max: 2048 },
    recipients: { max: 20, items: { min: 3, max: 254, pattern: /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]+$/ } },
  },
  RotateDestinationSecretRequest: {
    overlap_seconds: { min: 0, max: 2592000 },
  },
  ListDeliveriesRequest: {
    limit: { min: 1, max: 100 },
  },
  ControlExecutionEvent: {
    agent_name: { min: 10 },
    confidence: { min: 0, max: 1 },
    execution_duration_ms: { min: 0, max: 9007199254740991 },
    step_type: { min: 1, max: 255 },
    step_name: { min: 1, max: 1024 },
    session_id: { min: 1, max: 255 },
    step_id: { min: 1, max: 255 },
    revision: { min: 0 },
    decision_id: { min: 1, max: 255 },
  },
  CreateEventsRequest: {
    events: { min: 1, max: 1000 },
  },
  IngestEventsRequest: {
    events: { min: 1, max: 1000 },
  },
  PublishEventsRequest: {
    events: { min: 1, max: 1000 },
  },
  QueryEventsRequest: {
    agent_name: { min: 10 },
    control_ids: { max: 1000 },
    limit: { min: 1, max: 1000 },
    offset: { min: 0 },
    min_revision: { min: 0 },
    max_revision: { min: 0 },
  },
  ExportEventsRequest: {
    agent_name: { min: 10 },
    control_ids: { max: 1000 },
    min_revision: { min: 0 },
    max_revision: { min: 0 },
  },
  WatchEventsRequest: {
    trace_id: { max: 1024 },
    span_id: { max: 1024 },
    control_execution_id: { max: 1024 },
    agent_name: { min: 10 },
    control_ids: { max: 1000 },
    after_position: { min: 0 },
    step_type: { max: 1024 },
    step_name: { max: 1024 },
    session_id: { max: 1024 },
    step_id: { max: 1024 },
    decision_id: { max: 1024 },
    min_revision: { min: 0 },
    max_revision: { min: 0 },
  },
  GetStatsOverviewRequest: {
    limit: { min: 1, max: 100 },
  },
  GetEvaluationStatsRequest: {
    agent_name: { min: 10 },
    limit: { min: 1, max: 100 },
    listed_agents: { max: 100, items: { min: 10 } },
  },
  MarkFalsePositiveRequest: {
    control_execution_id: { min: 1, max: 36 },
    control_id: { min: 1 },
    note: { min: 1, max: 1000 },
  },
  UnmarkFalsePositiveRequest: {
    control_execution_id: { min: 1, max: 36 },
    control_id: { min: 1 },
  },
  ListFalsePositivesRequest: {
    limit: { min: 1, max: 1000 },
    control_id: { min: 1 },
    control_execution_ids: { max: 1000, items: { min: 1, max: 36 } },
    days: { min: 1, max: 3650 },
  },
  PreviewPackRequest: {
    agent_name: { min: 10, max: 255 },
    days: { min: 1, max: 30 },
    steps: { max: 20 },
  },
  InstallPackRequest: {
    policy_name: { min: 1, max: 255, pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/ },
    keys: { max: 200, items: { min: 1, max: 64 } },
    version: { max: 64 },
    name_prefix: { max: 64, pattern: /^(?:[a-zA-Z0-9][a-zA-Z0-9_-]*)?$/ },
    idempotency_key: { min: 1, max: 255 },
  },
  UpdatePackInstallationRequest: {
    version: { min: 1, max: 64 },
    overwrite: { max: 200, items: { min: 1, max: 64 } },
  },
  CreatePolicyRequest: {
    name: { min: 1, max: 255, pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/ },
  },
  ListPoliciesRequest: {
    limit: { min: 1, max: 100 },
  },
  UpdatePolicyRequest: {
    name: { min: 1, max: 255, pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/ },
    if_version: { min: 0 },
  },
  AgentLabels: {
    labels: { max: 10 },
  },
  DeletePolicyRequest: {
    if_version: { min: 0 },
  },
  ListPolicyAgentsRequest: {
    limit: { min: 1, max: 100 },
  },
  AddPolicyControlRequest: {
    if_version: { min: 0 },
  },
  RemovePolicyControlRequest: {
    if_version: { min: 0 },
  },
  AddPolicyAgentsRequest: {
    agent_names: { min: 1, max: 1000, items: { min: 10, max: 255 } },
    if_version: { min: 0 },
  },
  RemovePolicyAgentsRequest: {
    agent_names: { min: 1, max: 1000, items: { min: 10, max: 255 } },
  },
  CreateSamplingRuleRequest: {
    agent_name: { min: 10, max: 255 },
    share: { above: 0, max: 1 },
    masked_paths: { max: 50, items: { max: 255 } },
    masked_patterns: { max: 50, items: { min: 1, max: 1000 } },
    max_bytes: { min: 1, max: 262144 },
    retention_hours: { min: 1, max: 720 },
    ends_at: { maxDays: 365 },
  },
  ListSamplesRequest: {
    limit: { min: 1, max: 100 },
    agent_name: { min: 10, max: 255 },
  },
  GetSampleRequest: {
    decision_id: { min: 1, max: 64 },
  },
  ReplaySamplesRequest: {
    documents: { max: 10000 },
    without_controls: { max: 10000, items: { min: 1, max: 255, pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/ } },
    agent_name: { min: 10, max: 255 },
    max_samples: { min: 1, max: 1000000 },
    max_changes: { min: 0, max: 100000 },
  },
  SetShadowRequest: {
    share: { above: 0, max: 1 },
  },
} as const;
