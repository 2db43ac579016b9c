# Made by scripts/generate-python.mjs of the proto files: run "npm run generate:code".
from abc import ABCMeta
from typing import Any, MutableMapping, MutableSequence, Type, TypeVar

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message

_T = TypeVar("_T")

class RepeatedField(MutableSequence[_T], metaclass=ABCMeta):
    def add(self, **members: Any) -> _T: ...

POOL: DescriptorPool

def message_class(full_name: str) -> Type[Any]: ...
def parsed(message_class: Type[_T], members: Any) -> _T: ...

class AccessEntity(Message):
    type: str
    id: str
    properties: Any
    def __init__(self, **members: Any) -> None: ...
class AccessAction(Message):
    name: str
    properties: Any
    def __init__(self, **members: Any) -> None: ...
class AccessDenial(Message):
    evaluation_id: str
    step_sha256: str
    def __init__(self, **members: Any) -> None: ...
class CreateAccessRequestRequest(Message):
    agent_name: str
    denial: AccessDenial
    subject: AccessEntity
    resource: AccessEntity
    action: AccessAction
    def __init__(self, **members: Any) -> None: ...
class AccessTask(Message):
    id: str
    status: str
    status_endpoint: str
    expires_at: Any
    progress: AccessProgress
    def __init__(self, **members: Any) -> None: ...
class AccessProgress(Message):
    current_step: int
    total_steps: int
    awaiting: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class AccessResult(Message):
    mode: str
    approval: AccessApproval
    def __init__(self, **members: Any) -> None: ...
class AccessApproval(Message):
    id: str
    approved_at: Any
    approved_until: Any
    def __init__(self, **members: Any) -> None: ...
class CreateAccessRequestResponse(Message):
    task: AccessTask
    def __init__(self, **members: Any) -> None: ...
class GetAccessRequestRequest(Message):
    agent_name: str
    request_id: int
    def __init__(self, **members: Any) -> None: ...
class GetAccessRequestResponse(Message):
    task: AccessTask
    result: AccessResult
    def __init__(self, **members: Any) -> None: ...
class CancelAccessRequestRequest(Message):
    agent_name: str
    request_id: int
    def __init__(self, **members: Any) -> None: ...
class CancelAccessRequestResponse(Message):
    task: AccessTask
    def __init__(self, **members: Any) -> None: ...
class EvaluateCodingHookRequest(Message):
    body: Any
    agent: str
    rewrites: bool
    def __init__(self, **members: Any) -> None: ...
class EvaluateCodingHookResponse(Message):
    reply: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluateLitellmGuardrailRequest(Message):
    body: Any
    agent: str
    def __init__(self, **members: Any) -> None: ...
class EvaluateLitellmGuardrailResponse(Message):
    reply: Any
    def __init__(self, **members: Any) -> None: ...
class AnalyzeToolExecutionRequest(Message):
    body: Any
    agent: str
    api_version: str
    def __init__(self, **members: Any) -> None: ...
class AnalyzeToolExecutionResponse(Message):
    reply: Any
    def __init__(self, **members: Any) -> None: ...
class ValidateThreatDetectionRequest(Message):
    api_version: str
    def __init__(self, **members: Any) -> None: ...
class ValidateThreatDetectionResponse(Message):
    reply: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluateGatewayPromptRequest(Message):
    body: Any
    agent: str
    def __init__(self, **members: Any) -> None: ...
class EvaluateGatewayPromptResponse(Message):
    reply: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluateGatewayCompletionRequest(Message):
    body: Any
    agent: str
    def __init__(self, **members: Any) -> None: ...
class EvaluateGatewayCompletionResponse(Message):
    reply: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluateAgentHookRequest(Message):
    body: Any
    agent: str
    def __init__(self, **members: Any) -> None: ...
class EvaluateAgentHookResponse(Message):
    reply: Any
    def __init__(self, **members: Any) -> None: ...
class _Stage(EnumTypeWrapper):
    STAGE_UNSPECIFIED: int
    STAGE_PRE: int
    STAGE_POST: int
Stage: _Stage
class _Decision(EnumTypeWrapper):
    DECISION_UNSPECIFIED: int
    DECISION_DENY: int
    DECISION_STEER: int
    DECISION_OBSERVE: int
Decision: _Decision
class _Execution(EnumTypeWrapper):
    EXECUTION_UNSPECIFIED: int
    EXECUTION_SERVER: int
    EXECUTION_SDK: int
Execution: _Execution
class ControlDefinition(Message):
    condition: Condition
    description: str
    enabled: bool
    execution: int
    scope: Scope
    action: Action
    tags: RepeatedField[str]
    template: ControlTemplate
    template_values: Any
    def __init__(self, **members: Any) -> None: ...
class ControlTemplate(Message):
    description: str
    parameters: MutableMapping[str, TemplateParameter]
    definition_template: Any
    def __init__(self, **members: Any) -> None: ...
class TemplateParameter(Message):
    label: str
    description: str
    required: bool
    ui_hint: str
    type: str
    allowed_values: RepeatedField[str]
    default: Any
    placeholder: Any
    def __init__(self, **members: Any) -> None: ...
class Scope(Message):
    step_types: RepeatedField[str]
    step_names: RepeatedField[str]
    step_name_regex: str
    stages: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class Condition(Message):
    selector: Selector
    evaluator: EvaluatorRef
    # and is a keyword: getattr(message, "and")
    # or is a keyword: getattr(message, "or")
    # not is a keyword: getattr(message, "not")
    def __init__(self, **members: Any) -> None: ...
class ConditionList(Message):
    conditions: RepeatedField[Condition]
    def __init__(self, **members: Any) -> None: ...
class Selector(Message):
    path: str
    required: bool
    def __init__(self, **members: Any) -> None: ...
class EvaluatorRef(Message):
    name: str
    config: Any
    metadata: Any
    def __init__(self, **members: Any) -> None: ...
class Action(Message):
    decision: int
    steering_context: SteeringContext
    metadata: Any
    approval: ApprovalRule
    modify: RepeatedField[StepChange]
    def __init__(self, **members: Any) -> None: ...
class ApprovalRule(Message):
    approvers: RepeatedField[str]
    quorum: int
    expires_seconds: int
    bind: Any
    reuse: Any
    question: str
    separate: bool
    def __init__(self, **members: Any) -> None: ...
class StepChange(Message):
    path: str
    replace: str
    # with is a keyword: getattr(message, "with")
    remove: bool
    def __init__(self, **members: Any) -> None: ...
class SteeringContext(Message):
    message: str
    required_actions: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class Pagination(Message):
    limit: int
    total: int
    next_cursor: str
    has_more: bool
    def __init__(self, **members: Any) -> None: ...
class Warning(Message):
    code: str
    field: str
    message: str
    def __init__(self, **members: Any) -> None: ...
class _ConflictMode(EnumTypeWrapper):
    CONFLICT_MODE_UNSPECIFIED: int
    CONFLICT_MODE_STRICT: int
    CONFLICT_MODE_OVERWRITE: int
ConflictMode: _ConflictMode
class _StepSchemas(EnumTypeWrapper):
    STEP_SCHEMAS_UNSPECIFIED: int
    STEP_SCHEMAS_DEFAULT: int
    STEP_SCHEMAS_OFF: int
    STEP_SCHEMAS_WARN: int
    STEP_SCHEMAS_ENFORCE: int
StepSchemas: _StepSchemas
class _AgentOrder(EnumTypeWrapper):
    AGENT_ORDER_UNSPECIFIED: int
    AGENT_ORDER_NAME: int
    AGENT_ORDER_LAST_EVALUATED: int
    AGENT_ORDER_LAST_DENIED: int
AgentOrder: _AgentOrder
class ListAgentsRequest(Message):
    cursor: str
    limit: int
    name: str
    has_active_controls: bool
    labels: RepeatedField[str]
    control_id: int
    policy_id: int
    order_by: int
    reverse: bool
    def __init__(self, **members: Any) -> None: ...
class ListAgentLabelsRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class ListAgentLabelsResponse(Message):
    labels: RepeatedField[AgentLabel]
    def __init__(self, **members: Any) -> None: ...
class AgentLabel(Message):
    name: str
    values: RepeatedField[AgentLabelValue]
    def __init__(self, **members: Any) -> None: ...
class AgentLabelValue(Message):
    value: str
    agent_count: int
    def __init__(self, **members: Any) -> None: ...
class ListAgentsResponse(Message):
    agents: RepeatedField[AgentSummary]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class AgentSummary(Message):
    agent_name: str
    policy_ids: RepeatedField[int]
    created_at: str
    step_count: int
    evaluator_count: int
    active_controls_count: int
    version: int
    last_used_at: str
    step_schemas: int
    labels: MutableMapping[str, str]
    last_evaluated_at: str
    last_denied_at: str
    description: str
    def __init__(self, **members: Any) -> None: ...
class InitAgentRequest(Message):
    agent: Agent
    steps: RepeatedField[StepDefinition]
    evaluators: RepeatedField[EvaluatorRegistration]
    force_replace: bool
    conflict_mode: int
    target_type: str
    target_id: str
    omit_controls: bool
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class Agent(Message):
    agent_name: str
    agent_description: str
    agent_created_at: str
    agent_updated_at: str
    agent_version: str
    agent_metadata: Any
    def __init__(self, **members: Any) -> None: ...
class StepDefinition(Message):
    type: str
    name: str
    description: str
    input_schema: Any
    output_schema: Any
    metadata: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluatorRegistration(Message):
    name: str
    config_schema: Any
    description: str
    def __init__(self, **members: Any) -> None: ...
class InitAgentResponse(Message):
    created: bool
    controls: RepeatedField[AgentControl]
    overwrite_applied: bool
    overwrite_changes: OverwriteChanges
    warnings: RepeatedField[Warning]
    version: int
    def __init__(self, **members: Any) -> None: ...
class AgentControl(Message):
    id: int
    name: str
    control: ControlDefinition
    def __init__(self, **members: Any) -> None: ...
class OverwriteChanges(Message):
    metadata_changed: bool
    steps_added: RepeatedField[StepKey]
    steps_updated: RepeatedField[StepKey]
    steps_removed: RepeatedField[StepKey]
    evaluators_added: RepeatedField[str]
    evaluators_updated: RepeatedField[str]
    evaluators_removed: RepeatedField[str]
    evaluator_removals: RepeatedField[EvaluatorRemoval]
    def __init__(self, **members: Any) -> None: ...
class StepKey(Message):
    type: str
    name: str
    def __init__(self, **members: Any) -> None: ...
class EvaluatorRemoval(Message):
    name: str
    referenced_by_active_controls: bool
    control_ids: RepeatedField[int]
    control_names: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class GetAgentRequest(Message):
    agent_name: str
    def __init__(self, **members: Any) -> None: ...
class GetAgentResponse(Message):
    agent: Agent
    steps: RepeatedField[StepDefinition]
    evaluators: RepeatedField[EvaluatorRegistration]
    version: int
    linked_control_ids: RepeatedField[int]
    step_schemas: int
    effective_step_schemas: int
    mismatched_steps: RepeatedField[MismatchedStep]
    labels: MutableMapping[str, str]
    last_evaluated_at: str
    last_denied_at: str
    def __init__(self, **members: Any) -> None: ...
class MismatchedStep(Message):
    type: str
    name: str
    part: str
    path: str
    problem: str
    count: int
    last_at: str
    def __init__(self, **members: Any) -> None: ...
class UpdateAgentRequest(Message):
    agent_name: str
    remove_steps: RepeatedField[StepKey]
    remove_evaluators: RepeatedField[str]
    strict: bool
    if_version: int
    step_schemas: int
    def __init__(self, **members: Any) -> None: ...
class UpdateAgentResponse(Message):
    steps_removed: RepeatedField[StepKey]
    evaluators_removed: RepeatedField[str]
    warnings: RepeatedField[Warning]
    version: int
    def __init__(self, **members: Any) -> None: ...
class DeleteAgentRequest(Message):
    agent_name: str
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class DeleteAgentResponse(Message):
    success: bool
    removed_controls_count: int
    removed_policies_count: int
    def __init__(self, **members: Any) -> None: ...
class ListAgentEvaluatorsRequest(Message):
    agent_name: str
    cursor: str
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListAgentEvaluatorsResponse(Message):
    evaluators: RepeatedField[AgentEvaluator]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class AgentEvaluator(Message):
    name: str
    description: str
    config_schema: Any
    def __init__(self, **members: Any) -> None: ...
class GetAgentEvaluatorRequest(Message):
    agent_name: str
    evaluator_name: str
    def __init__(self, **members: Any) -> None: ...
class GetAgentEvaluatorResponse(Message):
    name: str
    description: str
    config_schema: Any
    def __init__(self, **members: Any) -> None: ...
class ListAgentControlsRequest(Message):
    agent_name: str
    rendered_state: str
    enabled_state: str
    target_type: str
    target_id: str
    page_size: int
    page_token: str
    max_message_bytes: int
    def __init__(self, **members: Any) -> None: ...
class ListAgentControlsResponse(Message):
    controls: RepeatedField[AgentControl]
    next_page_token: str
    def __init__(self, **members: Any) -> None: ...
class WatchControlsRequest(Message):
    agent_name: str
    from_revision: int
    max_message_bytes: int
    target_type: str
    target_id: str
    def __init__(self, **members: Any) -> None: ...
class WatchControlsResponse(Message):
    revision: int
    full: ControlsSnapshot
    changed: ControlsChange
    current: ControlsCurrent
    incomplete: bool
    def __init__(self, **members: Any) -> None: ...
class ControlsSnapshot(Message):
    controls: RepeatedField[AgentControl]
    def __init__(self, **members: Any) -> None: ...
class ControlsChange(Message):
    upserted: RepeatedField[AgentControl]
    removed: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class ControlsCurrent(Message):
    staleness_seconds: float
    def __init__(self, **members: Any) -> None: ...
class AddAgentControlRequest(Message):
    agent_name: str
    control_id: int
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class AddAgentControlResponse(Message):
    success: bool
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class RemoveAgentControlRequest(Message):
    agent_name: str
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class RemoveAgentControlResponse(Message):
    success: bool
    removed_direct_association: bool
    control_still_active: bool
    def __init__(self, **members: Any) -> None: ...
class _ApprovalState(EnumTypeWrapper):
    APPROVAL_STATE_UNSPECIFIED: int
    APPROVAL_STATE_PENDING: int
    APPROVAL_STATE_APPROVED: int
    APPROVAL_STATE_DENIED: int
    APPROVAL_STATE_EXPIRED: int
    APPROVAL_STATE_CANCELLED: int
    APPROVAL_STATE_USED: int
ApprovalState: _ApprovalState
class ApprovalNotice(Message):
    id: int
    state: int
    expires_at: Any
    step_sha256: str
    controls: RepeatedField[AskingControl]
    def __init__(self, **members: Any) -> None: ...
class AskingControl(Message):
    control_id: int
    control_name: str
    def __init__(self, **members: Any) -> None: ...
class _Detail(EnumTypeWrapper):
    DETAIL_UNSPECIFIED: int
    DETAIL_VERDICT: int
    DETAIL_FULL: int
Detail: _Detail
class _Outcome(EnumTypeWrapper):
    OUTCOME_UNSPECIFIED: int
    OUTCOME_ALLOW: int
    OUTCOME_DENY: int
    OUTCOME_STEER: int
    OUTCOME_ASK: int
    OUTCOME_MODIFY: int
Outcome: _Outcome
class _Applicability(EnumTypeWrapper):
    APPLICABILITY_UNSPECIFIED: int
    APPLICABILITY_APPLIES: int
    APPLICABILITY_DISABLED: int
    APPLICABILITY_NOT_SERVER_SIDE: int
    APPLICABILITY_STAGE: int
    APPLICABILITY_STEP_TYPE: int
    APPLICABILITY_STEP_NAME: int
    APPLICABILITY_SCOPE_FAILURE: int
    APPLICABILITY_DAMAGED: int
    APPLICABILITY_TEMPLATE_UNRENDERED: int
Applicability: _Applicability
class Step(Message):
    type: str
    name: str
    input: Any
    output: Any
    context: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluateRequest(Message):
    agent_name: str
    stage: int
    step: Step
    step_json: bytes
    detail: int
    min_revision: int
    target_type: str
    target_id: str
    session_id: str
    step_id: str
    traceparent: str
    timeout: Any
    accepts: RepeatedField[int]
    step_error: str
    def __init__(self, **members: Any) -> None: ...
class EvaluateResponse(Message):
    is_safe: bool
    confidence: float
    reason: str
    matches: RepeatedField[ControlResult]
    errors: RepeatedField[ControlResult]
    non_matches: RepeatedField[ControlResult]
    revision: int
    staleness_seconds: int
    outcome: int
    decision_id: str
    selected_controls: int
    evaluated_controls: int
    schema_mismatch: SchemaMismatch
    skipped_controls: int
    limits: RepeatedField[LimitStatus]
    halt: HaltNotice
    approval: ApprovalNotice
    modification: StepModification
    def __init__(self, **members: Any) -> None: ...
class StepModification(Message):
    patch: RepeatedField[PatchOperation]
    step_json: str
    control_ids: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class PatchOperation(Message):
    op: str
    path: str
    value: Any
    def __init__(self, **members: Any) -> None: ...
class LimitStatus(Message):
    control_id: int
    control_name: str
    evaluator_name: str
    limit: float
    remaining: float
    resets_after: Any
    retry_after: Any
    window: Any
    degraded: str
    key: str
    counts_since: Any
    def __init__(self, **members: Any) -> None: ...
class HaltNotice(Message):
    halt_id: int
    reason: str
    expires_at: Any
    def __init__(self, **members: Any) -> None: ...
class SchemaMismatch(Message):
    part: str
    path: str
    problem: str
    not_compared: bool
    def __init__(self, **members: Any) -> None: ...
class ControlResult(Message):
    control_execution_id: str
    control_id: int
    control_name: str
    action: int
    result: EvaluatorResult
    steering_context: SteeringContext
    def __init__(self, **members: Any) -> None: ...
class EvaluatorResult(Message):
    matched: bool
    confidence: float
    message: str
    metadata: Any
    error: str
    def __init__(self, **members: Any) -> None: ...
class EvaluateBatchRequest(Message):
    evaluations: RepeatedField[EvaluateRequest]
    def __init__(self, **members: Any) -> None: ...
class EvaluateBatchResponse(Message):
    results: RepeatedField[EvaluateStreamResult]
    def __init__(self, **members: Any) -> None: ...
class EvaluateStreamRequest(Message):
    id: str
    evaluations: RepeatedField[EvaluateRequest]
    cancel: bool
    def __init__(self, **members: Any) -> None: ...
class EvaluateStreamResponse(Message):
    id: str
    results: RepeatedField[EvaluateStreamResult]
    notice: StreamNotice
    def __init__(self, **members: Any) -> None: ...
class StreamNotice(Message):
    drain_within: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluateStreamResult(Message):
    verdict: EvaluateResponse
    error: Any
    def __init__(self, **members: Any) -> None: ...
class ExplainRequest(Message):
    agent_name: str
    stage: int
    step: Step
    control_ids: RepeatedField[int]
    data: ControlDefinition
    step_json: bytes
    min_revision: int
    target_type: str
    target_id: str
    session_id: str
    step_id: str
    step_error: str
    def __init__(self, **members: Any) -> None: ...
class ExplainResponse(Message):
    verdict: EvaluateResponse
    controls: RepeatedField[ControlExplanation]
    omitted_controls: int
    step_sha256: str
    def __init__(self, **members: Any) -> None: ...
class ControlExplanation(Message):
    control_id: int
    control_name: str
    decision: int
    applies: bool
    reason: int
    message: str
    condition: ConditionExplanation
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class ConditionExplanation(Message):
    type: str
    evaluated: bool
    matched: bool
    short_circuit_reason: str
    selector_path: str
    evaluator_name: str
    confidence: float
    message: str
    error: str
    duration_us: float
    selected: DataPreview
    children: RepeatedField[ConditionExplanation]
    expression_values: RepeatedField[ExpressionValue]
    findings: RepeatedField[Finding]
    def __init__(self, **members: Any) -> None: ...
class ExpressionValue(Message):
    start: int
    end: int
    text: str
    evaluated: bool
    value: DataPreview
    error: str
    def __init__(self, **members: Any) -> None: ...
class Finding(Message):
    kind: str
    path: str
    in_name: bool
    start: int
    end: int
    score: float
    def __init__(self, **members: Any) -> None: ...
class DataPreview(Message):
    type: str
    size: int
    text: str
    shortened: bool
    def __init__(self, **members: Any) -> None: ...
class _ApprovalDecision(EnumTypeWrapper):
    APPROVAL_DECISION_UNSPECIFIED: int
    APPROVAL_DECISION_APPROVE: int
    APPROVAL_DECISION_DENY: int
ApprovalDecision: _ApprovalDecision
class Approval(Message):
    id: int
    state: int
    agent_name: str
    session_id: str
    step_id: str
    step_type: str
    step_name: str
    question: str
    step_sha256: str
    controls: RepeatedField[ApprovalControl]
    asked_at: Any
    asked_by: str
    expires_at: Any
    decided_at: Any
    used_at: Any
    uses: int
    ended_at: Any
    end_reason: str
    votes: RepeatedField[ApprovalVote]
    allows: str
    narrowed: bool
    def __init__(self, **members: Any) -> None: ...
class ApprovalControl(Message):
    control_id: int
    control_name: str
    version: int
    approvers: RepeatedField[str]
    quorum: int
    approved: int
    separate: bool
    def __init__(self, **members: Any) -> None: ...
class ApprovalVote(Message):
    by: str
    decision: int
    at: Any
    address: str
    comment: str
    step_sha256: str
    def __init__(self, **members: Any) -> None: ...
class ListApprovalsRequest(Message):
    cursor: str
    limit: int
    state: int
    agent_name: str
    session_id: str
    control_id: int
    decided_by: str
    mine: bool
    def __init__(self, **members: Any) -> None: ...
class ListApprovalsResponse(Message):
    approvals: RepeatedField[Approval]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetApprovalRequest(Message):
    approval_id: int
    def __init__(self, **members: Any) -> None: ...
class GetApprovalResponse(Message):
    approval: Approval
    step_json: str
    step_shortened: bool
    explanations: RepeatedField[ControlExplanation]
    can_decide: bool
    cannot_decide_because: str
    def __init__(self, **members: Any) -> None: ...
class DecideApprovalRequest(Message):
    approval_id: int
    decision: int
    comment: str
    step_sha256: str
    narrowed_input_json: str
    def __init__(self, **members: Any) -> None: ...
class DecideApprovalResponse(Message):
    approval: Approval
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class CancelApprovalRequest(Message):
    approval_id: int
    agent_name: str
    reason: str
    def __init__(self, **members: Any) -> None: ...
class CancelApprovalResponse(Message):
    approval: Approval
    def __init__(self, **members: Any) -> None: ...
class AwaitApprovalRequest(Message):
    approval_id: int
    agent_name: str
    wait: Any
    def __init__(self, **members: Any) -> None: ...
class AwaitApprovalResponse(Message):
    approval: Approval
    def __init__(self, **members: Any) -> None: ...
class WatchApprovalsRequest(Message):
    agent_name: str
    approval_ids: RepeatedField[int]
    mine: bool
    def __init__(self, **members: Any) -> None: ...
class WatchApprovalsResponse(Message):
    approval: Approval
    heartbeat: ApprovalHeartbeat
    def __init__(self, **members: Any) -> None: ...
class ApprovalHeartbeat(Message):
    def __init__(self, **members: Any) -> None: ...
class AuditActor(Message):
    kind: str
    name: str
    key_fingerprint: str
    def __init__(self, **members: Any) -> None: ...
class AuditEntry(Message):
    position: int
    revision: int
    time: str
    actor: AuditActor
    address: str
    request_id: str
    action: str
    resource: str
    resource_id: str
    resource_name: str
    before: str
    after: str
    previous_hash: str
    hash: str
    def __init__(self, **members: Any) -> None: ...
class ListAuditEntriesRequest(Message):
    start_time: str
    end_time: str
    actor: str
    action: str
    resource: str
    resource_id: str
    min_revision: int
    max_revision: int
    request_id: str
    cursor: str
    limit: int
    actor_contains: str
    action_contains: str
    resource_contains: str
    def __init__(self, **members: Any) -> None: ...
class ListAuditEntriesResponse(Message):
    entries: RepeatedField[AuditEntry]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class ExportAuditEntriesRequest(Message):
    start_time: str
    end_time: str
    actor: str
    action: str
    resource: str
    resource_id: str
    min_revision: int
    max_revision: int
    request_id: str
    actor_contains: str
    action_contains: str
    resource_contains: str
    def __init__(self, **members: Any) -> None: ...
class ExportAuditEntriesResponse(Message):
    entry: AuditEntry
    def __init__(self, **members: Any) -> None: ...
class VerifyAuditRequest(Message):
    after_position: int
    def __init__(self, **members: Any) -> None: ...
class VerifyAuditResponse(Message):
    intact: bool
    verified: int
    problem: AuditProblem
    anchor: AuditPlace
    head: AuditPlace
    next_after_position: int
    unrecorded_revisions: int
    def __init__(self, **members: Any) -> None: ...
class AuditProblem(Message):
    position: int
    message: str
    def __init__(self, **members: Any) -> None: ...
class AuditPlace(Message):
    position: int
    hash: str
    def __init__(self, **members: Any) -> None: ...
class ExchangeRuntimeTokenRequest(Message):
    target_type: str
    target_id: str
    def __init__(self, **members: Any) -> None: ...
class ExchangeRuntimeTokenResponse(Message):
    token: str
    expires_at: str
    target_type: str
    target_id: str
    scopes: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class EvaluateAccessRequest(Message):
    subject: AccessEntity
    action: AccessAction
    resource: AccessEntity
    context: Any
    def __init__(self, **members: Any) -> None: ...
class EvaluateAccessResponse(Message):
    decision: bool
    context: Any
    def __init__(self, **members: Any) -> None: ...
class AccessEvaluation(Message):
    subject: AccessEntity
    action: AccessAction
    resource: AccessEntity
    context: Any
    def __init__(self, **members: Any) -> None: ...
class AccessEvaluationOptions(Message):
    evaluations_semantic: str
    def __init__(self, **members: Any) -> None: ...
class EvaluateAccessesRequest(Message):
    subject: AccessEntity
    action: AccessAction
    resource: AccessEntity
    context: Any
    evaluations: RepeatedField[AccessEvaluation]
    options: AccessEvaluationOptions
    def __init__(self, **members: Any) -> None: ...
class EvaluateAccessesResponse(Message):
    decision: bool
    context: Any
    evaluations: RepeatedField[EvaluateAccessResponse]
    def __init__(self, **members: Any) -> None: ...
class GetAuthzenConfigurationRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class GetAuthzenConfigurationResponse(Message):
    policy_decision_point: str
    access_evaluation_endpoint: str
    access_evaluations_endpoint: str
    capabilities: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class _ConfigurationChangeKind(EnumTypeWrapper):
    CONFIGURATION_CHANGE_KIND_UNSPECIFIED: int
    CONFIGURATION_CHANGE_KIND_CREATE: int
    CONFIGURATION_CHANGE_KIND_UPDATE: int
    CONFIGURATION_CHANGE_KIND_DELETE: int
    CONFIGURATION_CHANGE_KIND_UNCHANGED: int
ConfigurationChangeKind: _ConfigurationChangeKind
class ConfigurationDocument(Message):
    kind: str
    name: str
    namespace: str
    data: ControlDefinition
    controls: RepeatedField[str]
    policies: RepeatedField[str]
    every_agent: bool
    agent_labels: RepeatedField[str]
    policy: str
    version: str
    installed: MutableMapping[str, str]
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class ConfigurationChange(Message):
    kind: str
    name: str
    policy: str
    change: int
    differences: RepeatedField[ConfigurationDifference]
    adopted: bool
    def __init__(self, **members: Any) -> None: ...
class ConfigurationDifference(Message):
    path: str
    before_json: str
    after_json: str
    def __init__(self, **members: Any) -> None: ...
class ApplyConfigurationRequest(Message):
    owner: str
    documents: RepeatedField[ConfigurationDocument]
    dry_run: bool
    prune: bool
    overwrite: RepeatedField[str]
    revision: int
    note: str
    strict: bool
    merge: bool
    def __init__(self, **members: Any) -> None: ...
class ApplyConfigurationResponse(Message):
    changes: RepeatedField[ConfigurationChange]
    applied: bool
    revision: int
    conflicts: RepeatedField[ConfigurationConflict]
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class ConfigurationConflict(Message):
    kind: str
    name: str
    reason: str
    owner: str
    changed_by: str
    hint: str
    def __init__(self, **members: Any) -> None: ...
class ExportConfigurationRequest(Message):
    owner: str
    kinds: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class ExportConfigurationResponse(Message):
    document: ConfigurationDocument
    owner: str
    def __init__(self, **members: Any) -> None: ...
class LintConfigurationRequest(Message):
    documents: RepeatedField[ConfigurationDocument]
    each_alone: bool
    def __init__(self, **members: Any) -> None: ...
class LintConfigurationResponse(Message):
    findings: RepeatedField[LintFinding]
    def __init__(self, **members: Any) -> None: ...
class LintFinding(Message):
    rule: str
    severity: str
    document: int
    field: str
    message: str
    def __init__(self, **members: Any) -> None: ...
class ControlBinding(Message):
    id: int
    namespace_key: str
    target_type: str
    target_id: str
    control_id: int
    enabled: bool
    created_at: str
    updated_at: str
    def __init__(self, **members: Any) -> None: ...
class CreateControlBindingRequest(Message):
    target_type: str
    target_id: str
    control_id: int
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class CreateControlBindingResponse(Message):
    binding_id: int
    def __init__(self, **members: Any) -> None: ...
class ListControlBindingsRequest(Message):
    cursor: str
    limit: int
    target_type: str
    target_id: str
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class ListControlBindingsResponse(Message):
    bindings: RepeatedField[ControlBinding]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetControlBindingRequest(Message):
    binding_id: int
    def __init__(self, **members: Any) -> None: ...
class GetControlBindingResponse(Message):
    id: int
    namespace_key: str
    target_type: str
    target_id: str
    control_id: int
    enabled: bool
    created_at: str
    updated_at: str
    def __init__(self, **members: Any) -> None: ...
class UpdateControlBindingRequest(Message):
    binding_id: int
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class UpdateControlBindingResponse(Message):
    success: bool
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class DeleteControlBindingRequest(Message):
    binding_id: int
    def __init__(self, **members: Any) -> None: ...
class DeleteControlBindingResponse(Message):
    success: bool
    def __init__(self, **members: Any) -> None: ...
class UpsertControlBindingRequest(Message):
    target_type: str
    target_id: str
    control_id: int
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class UpsertControlBindingResponse(Message):
    binding_id: int
    created: bool
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class UpdateControlBindingByKeyRequest(Message):
    target_type: str
    target_id: str
    control_id: int
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class UpdateControlBindingByKeyResponse(Message):
    success: bool
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class DeleteControlBindingByKeyRequest(Message):
    target_type: str
    target_id: str
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class DeleteControlBindingByKeyResponse(Message):
    deleted: bool
    def __init__(self, **members: Any) -> None: ...
class _ControlOrder(EnumTypeWrapper):
    CONTROL_ORDER_UNSPECIFIED: int
    CONTROL_ORDER_NAME: int
    CONTROL_ORDER_UPDATED: int
    CONTROL_ORDER_LAST_DENIED: int
    CONTROL_ORDER_AGENTS: int
ControlOrder: _ControlOrder
class CreateControlRequest(Message):
    name: str
    data: ControlDefinition
    strict: bool
    def __init__(self, **members: Any) -> None: ...
class CreateControlResponse(Message):
    control_id: int
    warnings: RepeatedField[Warning]
    version: int
    def __init__(self, **members: Any) -> None: ...
class ListControlsRequest(Message):
    cursor: str
    limit: int
    name: str
    enabled: bool
    template_backed: bool
    step_type: str
    stage: str
    execution: str
    tag: str
    stage_filter: int
    execution_filter: int
    has_agents: bool
    decisions: RepeatedField[int]
    agent_name: str
    order_by: int
    reverse: bool
    step_name: str
    cloned: bool
    include_attachments: bool
    attachment_target_type: str
    attachment_target_id: str
    def __init__(self, **members: Any) -> None: ...
class ListControlsResponse(Message):
    controls: RepeatedField[ControlSummary]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class ControlSummary(Message):
    id: int
    name: str
    description: str
    enabled: bool
    execution: int
    step_types: RepeatedField[str]
    stages: RepeatedField[int]
    tags: RepeatedField[str]
    template_backed: bool
    template_rendered: bool
    used_by_agent: AgentReference
    used_by_agents_count: int
    action: Action
    attachments: ControlAttachments
    cloned_from_control_id: int
    version: int
    updated_at: str
    updated_by: str
    created_by: str
    last_matched_at: str
    last_denied_at: str
    last_failed_at: str
    step_names: RepeatedField[str]
    step_name_regex: str
    owner: str
    def __init__(self, **members: Any) -> None: ...
class ControlAttachments(Message):
    agents: RepeatedField[AgentReference]
    policies: RepeatedField[AttachedPolicy]
    targets: RepeatedField[AttachedTarget]
    targets_total: int
    targets_truncated: bool
    def __init__(self, **members: Any) -> None: ...
class AttachedPolicy(Message):
    id: int
    name: str
    def __init__(self, **members: Any) -> None: ...
class AttachedTarget(Message):
    binding_id: int
    target_type: str
    target_id: str
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class AgentReference(Message):
    agent_name: str
    def __init__(self, **members: Any) -> None: ...
class GetControlSchemaRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class GetControlSchemaResponse(Message):
    schema: Any
    def __init__(self, **members: Any) -> None: ...
class ValidateControlRequest(Message):
    data: ControlDefinition
    strict: bool
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class ValidateControlResponse(Message):
    success: bool
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class InspectExpressionRequest(Message):
    expression: str
    cursor: int
    scope: Scope
    selector_path: str
    def __init__(self, **members: Any) -> None: ...
class InspectExpressionResponse(Message):
    problems: RepeatedField[ExpressionProblem]
    result_type: str
    reads: RepeatedField[str]
    completions: RepeatedField[ExpressionCompletion]
    replace_from: int
    schemas_known: bool
    def __init__(self, **members: Any) -> None: ...
class ExpressionProblem(Message):
    code: str
    start: int
    end: int
    message: str
    suggestion: str
    error: bool
    def __init__(self, **members: Any) -> None: ...
class ExpressionCompletion(Message):
    label: str
    kind: str
    detail: str
    documentation: str
    def __init__(self, **members: Any) -> None: ...
class GetControlRequest(Message):
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class GetControlResponse(Message):
    id: int
    name: str
    data: ControlDefinition
    action: Action
    attachments: ControlAttachments
    cloned_from_control_id: int
    version: int
    owner: str
    def __init__(self, **members: Any) -> None: ...
class UpdateControlRequest(Message):
    control_id: int
    name: str
    enabled: bool
    strict: bool
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class UpdateControlResponse(Message):
    success: bool
    name: str
    enabled: bool
    warnings: RepeatedField[Warning]
    version: int
    def __init__(self, **members: Any) -> None: ...
class DeleteControlRequest(Message):
    control_id: int
    force: bool
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class DeleteControlResponse(Message):
    success: bool
    dissociated_from: RepeatedField[int]
    dissociated_from_policies: RepeatedField[int]
    dissociated_from_agents: RepeatedField[str]
    detached_target_bindings: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class CloneAndBindControlRequest(Message):
    control_id: int
    name: str
    target_binding: NewTargetBinding
    idempotency_key: str
    def __init__(self, **members: Any) -> None: ...
class NewTargetBinding(Message):
    target_type: str
    target_id: str
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class CloneAndBindControlResponse(Message):
    id: int
    name: str
    cloned_from_control_id: int
    binding_id: int
    def __init__(self, **members: Any) -> None: ...
class ListControlAgentsRequest(Message):
    control_id: int
    cursor: str
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListControlAgentsResponse(Message):
    agents: RepeatedField[ControlAgent]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class ControlAgent(Message):
    agent_name: str
    direct: bool
    policy_ids: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class ListControlPoliciesRequest(Message):
    control_id: int
    cursor: str
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListControlPoliciesResponse(Message):
    policies: RepeatedField[ControlPolicy]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class ControlPolicy(Message):
    id: int
    name: str
    def __init__(self, **members: Any) -> None: ...
class ListControlVersionsRequest(Message):
    control_id: int
    cursor: str
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListControlVersionsResponse(Message):
    versions: RepeatedField[ControlVersion]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class ControlVersion(Message):
    version_num: int
    event_type: str
    note: str
    created_at: str
    key_fingerprint: str
    changed_members: RepeatedField[str]
    author: str
    def __init__(self, **members: Any) -> None: ...
class GetControlVersionRequest(Message):
    control_id: int
    version_num: int
    def __init__(self, **members: Any) -> None: ...
class GetControlVersionResponse(Message):
    version_num: int
    event_type: str
    note: str
    created_at: str
    key_fingerprint: str
    changed_members: RepeatedField[str]
    snapshot: ControlSnapshot
    author: str
    def __init__(self, **members: Any) -> None: ...
class ControlSnapshot(Message):
    name: str
    data: ControlDefinition
    deleted_at: str
    cloned_control_id: int
    cloned_from_control_id: int
    def __init__(self, **members: Any) -> None: ...
class RestoreControlVersionRequest(Message):
    control_id: int
    version_num: int
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class RestoreControlVersionResponse(Message):
    success: bool
    version_num: int
    warnings: RepeatedField[Warning]
    version: int
    def __init__(self, **members: Any) -> None: ...
class GetControlDataRequest(Message):
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class GetControlDataResponse(Message):
    data: ControlDefinition
    version: int
    def __init__(self, **members: Any) -> None: ...
class SetControlDataRequest(Message):
    control_id: int
    data: ControlDefinition
    strict: bool
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class SetControlDataResponse(Message):
    success: bool
    warnings: RepeatedField[Warning]
    version: int
    def __init__(self, **members: Any) -> None: ...
class _CoverageState(EnumTypeWrapper):
    COVERAGE_STATE_UNSPECIFIED: int
    COVERAGE_STATE_NEVER_SEEN: int
    COVERAGE_STATE_OVERDUE: int
CoverageState: _CoverageState
class ListCoverageRequest(Message):
    cursor: str
    limit: int
    name: str
    state: int
    def __init__(self, **members: Any) -> None: ...
class ListCoverageResponse(Message):
    agents: RepeatedField[AgentCoverage]
    pagination: Pagination
    summary: CoverageSummary
    def __init__(self, **members: Any) -> None: ...
class CoverageSummary(Message):
    agents: int
    never_seen: int
    overdue: int
    def __init__(self, **members: Any) -> None: ...
class AgentCoverage(Message):
    agent_name: str
    evaluated: int
    first_seen_at: Any
    last_seen_at: Any
    points: RepeatedField[PointCoverage]
    registered_steps: int
    unchecked_step_count: int
    unchecked_steps: RepeatedField[UncheckedStep]
    unnamed_evaluations: int
    expectations: RepeatedField[Expectation]
    def __init__(self, **members: Any) -> None: ...
class PointCoverage(Message):
    point: str
    stage: int
    evaluated: int
    first_seen_at: Any
    last_seen_at: Any
    step_count: int
    def __init__(self, **members: Any) -> None: ...
class UncheckedStep(Message):
    type: str
    name: str
    stages: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class Expectation(Message):
    point: str
    interval_seconds: int
    overdue_since: Any
    def __init__(self, **members: Any) -> None: ...
class GetCoverageRequest(Message):
    agent_name: str
    def __init__(self, **members: Any) -> None: ...
class GetCoverageResponse(Message):
    coverage: AgentCoverage
    steps: RepeatedField[StepCoverage]
    def __init__(self, **members: Any) -> None: ...
class StepCoverage(Message):
    point: str
    stage: int
    step_type: str
    step_name: str
    evaluated: int
    first_seen_at: Any
    last_seen_at: Any
    registered: bool
    def __init__(self, **members: Any) -> None: ...
class SetExpectationsRequest(Message):
    agent_name: str
    expectations: RepeatedField[WantedExpectation]
    def __init__(self, **members: Any) -> None: ...
class WantedExpectation(Message):
    point: str
    interval_seconds: int
    def __init__(self, **members: Any) -> None: ...
class SetExpectationsResponse(Message):
    expectations: RepeatedField[Expectation]
    def __init__(self, **members: Any) -> None: ...
class _ErrorReason(EnumTypeWrapper):
    ERROR_REASON_UNSPECIFIED: int
    ERROR_REASON_AUTH_MISSING_KEY: int
    ERROR_REASON_AUTH_INVALID_KEY: int
    ERROR_REASON_AUTH_INSUFFICIENT_PRIVILEGES: int
    ERROR_REASON_RESOURCE_NOT_FOUND: int
    ERROR_REASON_METHOD_NOT_ALLOWED: int
    ERROR_REASON_AGENT_NOT_FOUND: int
    ERROR_REASON_POLICY_NOT_FOUND: int
    ERROR_REASON_CONTROL_NOT_FOUND: int
    ERROR_REASON_CONTROL_VERSION_NOT_FOUND: int
    ERROR_REASON_EVALUATOR_NOT_FOUND: int
    ERROR_REASON_CONTROL_NAME_CONFLICT: int
    ERROR_REASON_POLICY_NAME_CONFLICT: int
    ERROR_REASON_EVALUATOR_NAME_CONFLICT: int
    ERROR_REASON_SCHEMA_INCOMPATIBLE: int
    ERROR_REASON_EVALUATOR_IN_USE: int
    ERROR_REASON_CONTROL_TEMPLATE_CONFLICT: int
    ERROR_REASON_CONTROL_IN_USE: int
    ERROR_REASON_POLICY_CONTROL_INCOMPATIBLE: int
    ERROR_REASON_VALIDATION_ERROR: int
    ERROR_REASON_INVALID_CONFIG: int
    ERROR_REASON_TEMPLATE_PARAMETER_INVALID: int
    ERROR_REASON_TEMPLATE_RENDER_ERROR: int
    ERROR_REASON_CORRUPTED_DATA: int
    ERROR_REASON_TLS_REQUIRED: int
    ERROR_REASON_PAYLOAD_TOO_LARGE: int
    ERROR_REASON_RATE_LIMITED: int
    ERROR_REASON_SERVICE_UNAVAILABLE: int
    ERROR_REASON_DEADLINE_EXCEEDED: int
    ERROR_REASON_DATABASE_ERROR: int
    ERROR_REASON_INTERNAL_ERROR: int
    ERROR_REASON_POLICY_IN_USE: int
    ERROR_REASON_VERSION_MISMATCH: int
    ERROR_REASON_DRAINING: int
    ERROR_REASON_AUTH_MISCONFIGURED: int
    ERROR_REASON_AUTH_UPSTREAM_REJECTED: int
    ERROR_REASON_CONTROL_BINDING_NOT_FOUND: int
    ERROR_REASON_CONTROL_BINDING_CONFLICT: int
    ERROR_REASON_CONTROL_BINDING_INCOMPATIBLE: int
    ERROR_REASON_NAMESPACE_NOT_FOUND: int
    ERROR_REASON_NAMESPACE_CONFLICT: int
    ERROR_REASON_NAMESPACE_IN_USE: int
    ERROR_REASON_KEY_NOT_FOUND: int
    ERROR_REASON_IDEMPOTENCY_CONFLICT: int
    ERROR_REASON_PACK_NOT_FOUND: int
    ERROR_REASON_PACK_INSTALLATION_NOT_FOUND: int
    ERROR_REASON_PACK_ALREADY_INSTALLED: int
    ERROR_REASON_PACK_VERSION_CHANGED: int
    ERROR_REASON_HALT_NOT_FOUND: int
    ERROR_REASON_MEMORY_KEY_NOT_FOUND: int
    ERROR_REASON_APPROVAL_NOT_FOUND: int
    ERROR_REASON_APPROVAL_CONFLICT: int
    ERROR_REASON_DESTINATION_NOT_FOUND: int
    ERROR_REASON_DELIVERY_NOT_FOUND: int
    ERROR_REASON_ACCESS_REQUEST_INVALID: int
    ERROR_REASON_CONFIGURATION_CONFLICT: int
    ERROR_REASON_CONFIGURATION_REVISION_CHANGED: int
    ERROR_REASON_SAMPLING_RULE_CONFLICT: int
    ERROR_REASON_SAMPLING_RULE_NOT_FOUND: int
    ERROR_REASON_SAMPLE_NOT_FOUND: int
    ERROR_REASON_SHADOW_NOT_FOUND: int
    ERROR_REASON_SHADOW_CHANGED: int
    ERROR_REASON_EVENT_NOT_FOUND: int
    ERROR_REASON_ADAPTER_OFF: int
ErrorReason: _ErrorReason
class ListEvaluatorsRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class ListEvaluatorsResponse(Message):
    evaluators: MutableMapping[str, EvaluatorInfo]
    def __init__(self, **members: Any) -> None: ...
class EvaluatorInfo(Message):
    name: str
    version: str
    description: str
    requires_api_key: bool
    timeout_ms: int
    config_schema: Any
    def __init__(self, **members: Any) -> None: ...
class _HaltScope(EnumTypeWrapper):
    HALT_SCOPE_UNSPECIFIED: int
    HALT_SCOPE_STEP_NAME: int
    HALT_SCOPE_SESSION: int
    HALT_SCOPE_AGENT: int
    HALT_SCOPE_NAMESPACE: int
    HALT_SCOPE_INSTALLATION: int
HaltScope: _HaltScope
class _HaltState(EnumTypeWrapper):
    HALT_STATE_UNSPECIFIED: int
    HALT_STATE_ACTIVE: int
    HALT_STATE_LIFTED: int
    HALT_STATE_EXPIRED: int
HaltState: _HaltState
class Halt(Message):
    id: int
    scope: int
    agent_name: str
    session_id: str
    step_name: str
    reason: str
    state: int
    created_at: Any
    created_by: str
    expires_at: Any
    lifted_at: Any
    lifted_by: str
    lift_reason: str
    def __init__(self, **members: Any) -> None: ...
class CreateHaltRequest(Message):
    scope: int
    agent_name: str
    session_id: str
    step_name: str
    reason: str
    expires_at: Any
    idempotency_key: str
    def __init__(self, **members: Any) -> None: ...
class CreateHaltResponse(Message):
    halt: Halt
    def __init__(self, **members: Any) -> None: ...
class ListHaltsRequest(Message):
    cursor: str
    limit: int
    state: int
    def __init__(self, **members: Any) -> None: ...
class ListHaltsResponse(Message):
    halts: RepeatedField[Halt]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetHaltRequest(Message):
    halt_id: int
    def __init__(self, **members: Any) -> None: ...
class GetHaltResponse(Message):
    halt: Halt
    def __init__(self, **members: Any) -> None: ...
class LiftHaltRequest(Message):
    halt_id: int
    reason: str
    def __init__(self, **members: Any) -> None: ...
class LiftHaltResponse(Message):
    halt: Halt
    def __init__(self, **members: Any) -> None: ...
class ApiKey(Message):
    id: int
    name: str
    prefix: str
    fingerprint: str
    owner: str
    role: str
    scopes: RepeatedField[str]
    namespace: str
    agents: RepeatedField[str]
    created_at: str
    created_by: str
    expires_at: str
    last_used_at: str
    rotated_at: str
    previous_secret_until: str
    revoked_at: str
    def __init__(self, **members: Any) -> None: ...
class CreateKeyRequest(Message):
    name: str
    role: str
    scopes: RepeatedField[str]
    agents: RepeatedField[str]
    owner: str
    expires_at: str
    namespace: str
    idempotency_key: str
    def __init__(self, **members: Any) -> None: ...
class CreateKeyResponse(Message):
    key: ApiKey
    secret: str
    created: bool
    def __init__(self, **members: Any) -> None: ...
class ListKeysRequest(Message):
    cursor: str
    limit: int
    include_ended: bool
    name: str
    def __init__(self, **members: Any) -> None: ...
class ListKeysResponse(Message):
    keys: RepeatedField[ApiKey]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetKeyRequest(Message):
    key_id: int
    def __init__(self, **members: Any) -> None: ...
class GetKeyResponse(Message):
    key: ApiKey
    def __init__(self, **members: Any) -> None: ...
class RotateKeyRequest(Message):
    key_id: int
    overlap_seconds: int
    def __init__(self, **members: Any) -> None: ...
class RotateKeyResponse(Message):
    key: ApiKey
    secret: str
    def __init__(self, **members: Any) -> None: ...
class RevokeKeyRequest(Message):
    key_id: int
    def __init__(self, **members: Any) -> None: ...
class RevokeKeyResponse(Message):
    key: ApiKey
    def __init__(self, **members: Any) -> None: ...
class ListRolesRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class ListRolesResponse(Message):
    roles: RepeatedField[Role]
    scopes: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class Role(Message):
    name: str
    description: str
    scopes: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class MemoryKeyName(Message):
    control_id: int
    key_id: str
    agent_name: str
    session_id: str
    step: Step
    def __init__(self, **members: Any) -> None: ...
class LimitUse(Message):
    key_id: str
    status: LimitStatus
    used_at: Any
    def __init__(self, **members: Any) -> None: ...
class ListLimitsRequest(Message):
    min_used: float
    control_id: int
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListLimitsResponse(Message):
    limits: RepeatedField[LimitUse]
    has_more: bool
    def __init__(self, **members: Any) -> None: ...
class GetMemoryKeyRequest(Message):
    key: MemoryKeyName
    def __init__(self, **members: Any) -> None: ...
class GetMemoryKeyResponse(Message):
    states: RepeatedField[KeptState]
    def __init__(self, **members: Any) -> None: ...
class KeptState(Message):
    evaluator_name: str
    status: LimitStatus
    kept: Any
    used_at: Any
    key_id: str
    key: str
    is_damaged: bool
    def __init__(self, **members: Any) -> None: ...
class ResetMemoryKeyRequest(Message):
    key: MemoryKeyName
    reason: str
    def __init__(self, **members: Any) -> None: ...
class ResetMemoryKeyResponse(Message):
    was_kept: bool
    def __init__(self, **members: Any) -> None: ...
class GetMemoryStatusRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class GetMemoryStatusResponse(Message):
    store: str
    is_used: bool
    is_available: bool
    problem: str
    keys: int
    bytes: int
    max_keys: int
    max_bytes: int
    evicted_keys: int
    def __init__(self, **members: Any) -> None: ...
class Namespace(Message):
    name: str
    display_name: str
    created_at: str
    agent_count: int
    control_count: int
    key_count: int
    def __init__(self, **members: Any) -> None: ...
class CreateNamespaceRequest(Message):
    name: str
    display_name: str
    def __init__(self, **members: Any) -> None: ...
class CreateNamespaceResponse(Message):
    namespace: Namespace
    def __init__(self, **members: Any) -> None: ...
class ListNamespacesRequest(Message):
    cursor: str
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListNamespacesResponse(Message):
    namespaces: RepeatedField[Namespace]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetNamespaceRequest(Message):
    namespace: str
    def __init__(self, **members: Any) -> None: ...
class GetNamespaceResponse(Message):
    namespace: Namespace
    def __init__(self, **members: Any) -> None: ...
class UpdateNamespaceRequest(Message):
    namespace: str
    display_name: str
    def __init__(self, **members: Any) -> None: ...
class UpdateNamespaceResponse(Message):
    namespace: Namespace
    def __init__(self, **members: Any) -> None: ...
class ExportNamespaceRequest(Message):
    namespace: str
    def __init__(self, **members: Any) -> None: ...
class ExportNamespaceResponse(Message):
    kind: str
    record_json: str
    def __init__(self, **members: Any) -> None: ...
class DeleteNamespaceRequest(Message):
    namespace: str
    force: bool
    def __init__(self, **members: Any) -> None: ...
class DeleteNamespaceResponse(Message):
    success: bool
    removed_agents_count: int
    removed_controls_count: int
    removed_policies_count: int
    revoked_keys_count: int
    def __init__(self, **members: Any) -> None: ...
class _DestinationType(EnumTypeWrapper):
    DESTINATION_TYPE_UNSPECIFIED: int
    DESTINATION_TYPE_WEBHOOK: int
    DESTINATION_TYPE_SLACK: int
    DESTINATION_TYPE_EMAIL: int
DestinationType: _DestinationType
class _DeliveryState(EnumTypeWrapper):
    DELIVERY_STATE_UNSPECIFIED: int
    DELIVERY_STATE_WAITING: int
    DELIVERY_STATE_DELIVERED: int
    DELIVERY_STATE_DEAD: int
DeliveryState: _DeliveryState
class Destination(Message):
    id: int
    name: str
    type: int
    url: str
    recipients: RepeatedField[str]
    kinds: RepeatedField[str]
    enabled: bool
    disabled_reason: str
    created_at: Any
    created_by: str
    rotated_at: Any
    previous_secret_until: Any
    waiting_deliveries: int
    dead_deliveries: int
    dropped_notifications: int
    def __init__(self, **members: Any) -> None: ...
class Delivery(Message):
    id: int
    destination_id: int
    message_id: str
    kind: str
    object: str
    summary: str
    state: int
    attempts: int
    created_at: Any
    next_attempt_at: Any
    last_attempt_at: Any
    last_status: int
    last_error: str
    def __init__(self, **members: Any) -> None: ...
class CreateDestinationRequest(Message):
    name: str
    type: int
    url: str
    recipients: RepeatedField[str]
    kinds: RepeatedField[str]
    enabled: bool
    idempotency_key: str
    def __init__(self, **members: Any) -> None: ...
class CreateDestinationResponse(Message):
    destination: Destination
    secret: str
    def __init__(self, **members: Any) -> None: ...
class ListDestinationsRequest(Message):
    cursor: str
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListDestinationsResponse(Message):
    destinations: RepeatedField[Destination]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetDestinationRequest(Message):
    destination_id: int
    def __init__(self, **members: Any) -> None: ...
class GetDestinationResponse(Message):
    destination: Destination
    def __init__(self, **members: Any) -> None: ...
class UpdateDestinationRequest(Message):
    destination_id: int
    name: str
    url: str
    recipients: RepeatedField[str]
    kinds: RepeatedField[str]
    enabled: bool
    def __init__(self, **members: Any) -> None: ...
class UpdateDestinationResponse(Message):
    destination: Destination
    def __init__(self, **members: Any) -> None: ...
class DeleteDestinationRequest(Message):
    destination_id: int
    def __init__(self, **members: Any) -> None: ...
class DeleteDestinationResponse(Message):
    def __init__(self, **members: Any) -> None: ...
class RotateDestinationSecretRequest(Message):
    destination_id: int
    overlap_seconds: int
    def __init__(self, **members: Any) -> None: ...
class RotateDestinationSecretResponse(Message):
    destination: Destination
    secret: str
    def __init__(self, **members: Any) -> None: ...
class TestDestinationRequest(Message):
    destination_id: int
    def __init__(self, **members: Any) -> None: ...
class TestDestinationResponse(Message):
    delivered: bool
    status: int
    error: str
    def __init__(self, **members: Any) -> None: ...
class ListDeliveriesRequest(Message):
    cursor: str
    limit: int
    destination_id: int
    state: int
    def __init__(self, **members: Any) -> None: ...
class ListDeliveriesResponse(Message):
    deliveries: RepeatedField[Delivery]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class ResendDeliveryRequest(Message):
    delivery_id: int
    def __init__(self, **members: Any) -> None: ...
class ResendDeliveryResponse(Message):
    delivery: Delivery
    def __init__(self, **members: Any) -> None: ...
class _AppliesTo(EnumTypeWrapper):
    APPLIES_TO_UNSPECIFIED: int
    APPLIES_TO_LLM_CALL: int
    APPLIES_TO_TOOL_CALL: int
AppliesTo: _AppliesTo
class _TotalKind(EnumTypeWrapper):
    TOTAL_KIND_UNSPECIFIED: int
    TOTAL_KIND_EXACT: int
    TOTAL_KIND_ESTIMATE: int
    TOTAL_KIND_NONE: int
TotalKind: _TotalKind
class _FellBehindReason(EnumTypeWrapper):
    FELL_BEHIND_REASON_UNSPECIFIED: int
    FELL_BEHIND_REASON_SLOW_READER: int
    FELL_BEHIND_REASON_EVENTS_DELETED: int
    FELL_BEHIND_REASON_DATABASE_RESTORED: int
FellBehindReason: _FellBehindReason
class ControlExecutionEvent(Message):
    control_execution_id: str
    trace_id: str
    span_id: str
    agent_name: str
    control_id: int
    control_name: str
    check_stage: int
    applies_to: int
    action: int
    matched: bool
    confidence: float
    timestamp: str
    execution_duration_ms: float
    evaluator_name: str
    selector_path: str
    error_message: str
    metadata: Any
    step_type: str
    step_name: str
    session_id: str
    step_id: str
    revision: int
    decision_id: str
    def __init__(self, **members: Any) -> None: ...
class CreateEventsRequest(Message):
    events: RepeatedField[ControlExecutionEvent]
    def __init__(self, **members: Any) -> None: ...
class CreateEventsResponse(Message):
    received: int
    enqueued: int
    dropped: int
    status: str
    def __init__(self, **members: Any) -> None: ...
class IngestEventsRequest(Message):
    events: RepeatedField[ControlExecutionEvent]
    def __init__(self, **members: Any) -> None: ...
class IngestEventsResponse(Message):
    received: int
    stored: int
    dropped: int
    def __init__(self, **members: Any) -> None: ...
class PublishEventsRequest(Message):
    events: RepeatedField[ControlExecutionEvent]
    def __init__(self, **members: Any) -> None: ...
class PublishEventsResponse(Message):
    acknowledged_messages: int
    stored: int
    dropped: int
    def __init__(self, **members: Any) -> None: ...
class FlushEventsRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class FlushEventsResponse(Message):
    stored: int
    def __init__(self, **members: Any) -> None: ...
class QueryEventsRequest(Message):
    trace_id: str
    span_id: str
    control_execution_id: str
    agent_name: str
    control_ids: RepeatedField[int]
    actions: RepeatedField[int]
    matched: bool
    check_stages: RepeatedField[int]
    applies_to: RepeatedField[int]
    start_time: str
    end_time: str
    limit: int
    offset: int
    cursor: str
    step_type: str
    step_name: str
    session_id: str
    step_id: str
    decision_id: str
    min_revision: int
    max_revision: int
    has_error: bool
    include_step: bool
    include_buffered: bool
    total: int
    def __init__(self, **members: Any) -> None: ...
class QueryEventsResponse(Message):
    events: RepeatedField[ControlExecutionEvent]
    total: int
    limit: int
    offset: int
    next_cursor: str
    event_total: int
    total_kind: int
    def __init__(self, **members: Any) -> None: ...
class ExportEventsRequest(Message):
    trace_id: str
    span_id: str
    control_execution_id: str
    agent_name: str
    control_ids: RepeatedField[int]
    actions: RepeatedField[int]
    matched: bool
    check_stages: RepeatedField[int]
    applies_to: RepeatedField[int]
    start_time: str
    end_time: str
    step_type: str
    step_name: str
    session_id: str
    step_id: str
    decision_id: str
    min_revision: int
    max_revision: int
    has_error: bool
    include_step: bool
    def __init__(self, **members: Any) -> None: ...
class ExportEventsResponse(Message):
    event: ControlExecutionEvent
    def __init__(self, **members: Any) -> None: ...
class WatchEventsRequest(Message):
    trace_id: str
    span_id: str
    control_execution_id: str
    agent_name: str
    control_ids: RepeatedField[int]
    actions: RepeatedField[int]
    matched: bool
    check_stages: RepeatedField[int]
    applies_to: RepeatedField[int]
    start_time: str
    end_time: str
    after_position: int
    step_type: str
    step_name: str
    session_id: str
    step_id: str
    decision_id: str
    min_revision: int
    max_revision: int
    has_error: bool
    def __init__(self, **members: Any) -> None: ...
class WatchEventsResponse(Message):
    position: int
    events: EventBatch
    heartbeat: EventHeartbeat
    fell_behind: FellBehind
    def __init__(self, **members: Any) -> None: ...
class EventBatch(Message):
    events: RepeatedField[PositionedEvent]
    def __init__(self, **members: Any) -> None: ...
class PositionedEvent(Message):
    position: int
    event: ControlExecutionEvent
    def __init__(self, **members: Any) -> None: ...
class EventHeartbeat(Message):
    staleness_seconds: float
    def __init__(self, **members: Any) -> None: ...
class FellBehind(Message):
    reason: int
    up_to_position: int
    def __init__(self, **members: Any) -> None: ...
class GetStatsRequest(Message):
    agent_name: str
    time_range: str
    include_timeseries: bool
    start_time: str
    end_time: str
    def __init__(self, **members: Any) -> None: ...
class GetStatsResponse(Message):
    agent_name: str
    time_range: str
    totals: StatsTotals
    controls: RepeatedField[ControlStats]
    def __init__(self, **members: Any) -> None: ...
class StatsTotals(Message):
    execution_count: int
    match_count: int
    non_match_count: int
    error_count: int
    action_counts: MutableMapping[str, int]
    timeseries: RepeatedField[StatsBucket]
    execution_total: int
    match_total: int
    non_match_total: int
    error_total: int
    action_totals: MutableMapping[str, int]
    bucket_seconds: int
    def __init__(self, **members: Any) -> None: ...
class StatsBucket(Message):
    timestamp: str
    execution_count: int
    match_count: int
    non_match_count: int
    error_count: int
    action_counts: MutableMapping[str, int]
    avg_confidence: float
    avg_duration_ms: float
    execution_total: int
    match_total: int
    non_match_total: int
    error_total: int
    action_totals: MutableMapping[str, int]
    def __init__(self, **members: Any) -> None: ...
class ControlStats(Message):
    control_id: int
    control_name: str
    execution_count: int
    match_count: int
    non_match_count: int
    deny_count: int
    steer_count: int
    observe_count: int
    error_count: int
    avg_confidence: float
    avg_duration_ms: float
    execution_total: int
    match_total: int
    non_match_total: int
    deny_total: int
    steer_total: int
    observe_total: int
    error_total: int
    def __init__(self, **members: Any) -> None: ...
class GetControlStatsRequest(Message):
    control_id: int
    agent_name: str
    time_range: str
    include_timeseries: bool
    start_time: str
    end_time: str
    def __init__(self, **members: Any) -> None: ...
class GetControlStatsResponse(Message):
    agent_name: str
    time_range: str
    control_id: int
    control_name: str
    stats: StatsTotals
    def __init__(self, **members: Any) -> None: ...
class GetStatsOverviewRequest(Message):
    time_range: str
    include_timeseries: bool
    limit: int
    control_id: int
    start_time: str
    end_time: str
    top_by_matches: bool
    def __init__(self, **members: Any) -> None: ...
class GetStatsOverviewResponse(Message):
    time_range: str
    totals: StatsTotals
    agents: RepeatedField[AgentStats]
    controls: RepeatedField[AgentControlStats]
    top_controls: RepeatedField[ControlStats]
    def __init__(self, **members: Any) -> None: ...
class AgentStats(Message):
    agent_name: str
    execution_count: int
    match_count: int
    non_match_count: int
    error_count: int
    action_counts: MutableMapping[str, int]
    execution_total: int
    match_total: int
    non_match_total: int
    error_total: int
    action_totals: MutableMapping[str, int]
    def __init__(self, **members: Any) -> None: ...
class AgentControlStats(Message):
    agent_name: str
    stats: ControlStats
    def __init__(self, **members: Any) -> None: ...
class GetEvaluationStatsRequest(Message):
    agent_name: str
    time_range: str
    start_time: str
    end_time: str
    include_timeseries: bool
    limit: int
    include_previous: bool
    listed_agents: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class GetEvaluationStatsResponse(Message):
    time_range: str
    start_time: str
    end_time: str
    counts: EvaluationCounts
    previous: EvaluationCounts
    timeseries: RepeatedField[EvaluationBucket]
    bucket_seconds: int
    agents: RepeatedField[AgentEvaluations]
    counted_since: str
    def __init__(self, **members: Any) -> None: ...
class EvaluationCounts(Message):
    evaluated: int
    allowed: int
    denied: int
    steered: int
    denied_by_error: int
    observed: int
    failed: int
    def __init__(self, **members: Any) -> None: ...
class EvaluationBucket(Message):
    timestamp: str
    counts: EvaluationCounts
    def __init__(self, **members: Any) -> None: ...
class AgentEvaluations(Message):
    agent_name: str
    counts: EvaluationCounts
    def __init__(self, **members: Any) -> None: ...
class GetObservabilityStatusRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class GetObservabilityStatusResponse(Message):
    status: str
    ingestor_initialized: bool
    store_initialized: bool
    def __init__(self, **members: Any) -> None: ...
class FalsePositive(Message):
    control_execution_id: str
    control_id: int
    agent_name: str
    matched_at: Any
    decision_id: str
    note: str
    marked_by: str
    marked_at: Any
    def __init__(self, **members: Any) -> None: ...
class MarkFalsePositiveRequest(Message):
    control_execution_id: str
    control_id: int
    note: str
    def __init__(self, **members: Any) -> None: ...
class MarkFalsePositiveResponse(Message):
    false_positive: FalsePositive
    def __init__(self, **members: Any) -> None: ...
class UnmarkFalsePositiveRequest(Message):
    control_execution_id: str
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class UnmarkFalsePositiveResponse(Message):
    was_marked: bool
    def __init__(self, **members: Any) -> None: ...
class ListFalsePositivesRequest(Message):
    cursor: str
    limit: int
    control_id: int
    control_execution_ids: RepeatedField[str]
    days: int
    def __init__(self, **members: Any) -> None: ...
class ListFalsePositivesResponse(Message):
    false_positives: RepeatedField[FalsePositive]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class _PackChange(EnumTypeWrapper):
    PACK_CHANGE_UNSPECIFIED: int
    PACK_CHANGE_NONE: int
    PACK_CHANGE_UPDATE: int
    PACK_CHANGE_CONFLICT: int
    PACK_CHANGE_ADD: int
    PACK_CHANGE_REMOVE: int
    PACK_CHANGE_ABSENT: int
PackChange: _PackChange
class PackSummary(Message):
    name: str
    version: str
    title: str
    description: str
    control_count: int
    case_count: int
    tags: RepeatedField[str]
    built_in: bool
    evaluators: RepeatedField[str]
    missing_evaluators: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class PackControl(Message):
    key: str
    title: str
    reason: str
    references: RepeatedField[str]
    data: ControlDefinition
    matching_cases: int
    other_cases: int
    examples: RepeatedField[PackCase]
    def __init__(self, **members: Any) -> None: ...
class PackCase(Message):
    name: str
    step: Step
    stage: int
    matches: bool
    def __init__(self, **members: Any) -> None: ...
class PackInstallation(Message):
    installation_id: int
    pack_name: str
    version: str
    current_version: str
    update_available: bool
    policy_id: int
    policy_name: str
    installed_at: Any
    updated_at: Any
    controls: RepeatedField[InstalledControl]
    def __init__(self, **members: Any) -> None: ...
class InstalledControl(Message):
    key: str
    control_id: int
    control_name: str
    changed: bool
    def __init__(self, **members: Any) -> None: ...
class ListPacksRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class ListPacksResponse(Message):
    packs: RepeatedField[PackSummary]
    installations: RepeatedField[PackInstallation]
    def __init__(self, **members: Any) -> None: ...
class GetPackRequest(Message):
    pack_name: str
    def __init__(self, **members: Any) -> None: ...
class GetPackResponse(Message):
    pack: PackSummary
    controls: RepeatedField[PackControl]
    installations: RepeatedField[PackInstallation]
    def __init__(self, **members: Any) -> None: ...
class PreviewPackRequest(Message):
    pack_name: str
    agent_name: str
    days: int
    steps: RepeatedField[PreviewStep]
    def __init__(self, **members: Any) -> None: ...
class PreviewStep(Message):
    step: Step
    stage: int
    def __init__(self, **members: Any) -> None: ...
class PreviewPackResponse(Message):
    controls: RepeatedField[PackControlPreview]
    evaluations: int
    since: Any
    complete: bool
    def __init__(self, **members: Any) -> None: ...
class PackControlPreview(Message):
    key: str
    evaluations_in_scope: int
    steps_in_scope: RepeatedField[str]
    step_count: int
    results: RepeatedField[PackStepResult]
    def __init__(self, **members: Any) -> None: ...
class PackStepResult(Message):
    applies: bool
    matched: bool
    message: str
    failed: bool
    def __init__(self, **members: Any) -> None: ...
class InstallPackRequest(Message):
    pack_name: str
    policy_id: int
    policy_name: str
    keys: RepeatedField[str]
    version: str
    name_prefix: str
    idempotency_key: str
    def __init__(self, **members: Any) -> None: ...
class InstallPackResponse(Message):
    installation: PackInstallation
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class ListPackInstallationsRequest(Message):
    pack_name: str
    policy_id: int
    def __init__(self, **members: Any) -> None: ...
class ListPackInstallationsResponse(Message):
    installations: RepeatedField[PackInstallation]
    def __init__(self, **members: Any) -> None: ...
class ComparePackInstallationRequest(Message):
    installation_id: int
    def __init__(self, **members: Any) -> None: ...
class ComparePackInstallationResponse(Message):
    installation: PackInstallation
    controls: RepeatedField[PackControlComparison]
    def __init__(self, **members: Any) -> None: ...
class PackControlComparison(Message):
    key: str
    change: int
    control_id: int
    control_name: str
    changed_here: RepeatedField[str]
    changed_in_pack: RepeatedField[str]
    updated_members: RepeatedField[str]
    current: ControlDefinition
    in_pack: ControlDefinition
    after_update: ControlDefinition
    def __init__(self, **members: Any) -> None: ...
class UpdatePackInstallationRequest(Message):
    installation_id: int
    version: str
    overwrite: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class UpdatePackInstallationResponse(Message):
    installation: PackInstallation
    updated: RepeatedField[str]
    kept: RepeatedField[str]
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class UninstallPackRequest(Message):
    installation_id: int
    force: bool
    def __init__(self, **members: Any) -> None: ...
class UninstallPackResponse(Message):
    removed: bool
    deleted_controls: RepeatedField[int]
    kept_controls: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class CreatePolicyRequest(Message):
    name: str
    def __init__(self, **members: Any) -> None: ...
class CreatePolicyResponse(Message):
    policy_id: int
    version: int
    def __init__(self, **members: Any) -> None: ...
class Policy(Message):
    id: int
    name: str
    control_ids: RepeatedField[int]
    version: int
    update_time: Any
    agent_count: int
    create_time: Any
    every_agent: bool
    agent_labels: RepeatedField[str]
    owner: str
    def __init__(self, **members: Any) -> None: ...
class ListPoliciesRequest(Message):
    cursor: str
    limit: int
    name: str
    def __init__(self, **members: Any) -> None: ...
class ListPoliciesResponse(Message):
    policies: RepeatedField[Policy]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetPolicyRequest(Message):
    policy_id: int
    def __init__(self, **members: Any) -> None: ...
class GetPolicyResponse(Message):
    policy: Policy
    version: int
    def __init__(self, **members: Any) -> None: ...
class UpdatePolicyRequest(Message):
    policy_id: int
    name: str
    if_version: int
    every_agent: bool
    agent_labels: AgentLabels
    def __init__(self, **members: Any) -> None: ...
class AgentLabels(Message):
    labels: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class UpdatePolicyResponse(Message):
    policy: Policy
    version: int
    def __init__(self, **members: Any) -> None: ...
class DeletePolicyRequest(Message):
    policy_id: int
    force: bool
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class DeletePolicyResponse(Message):
    success: bool
    removed_from_agents_count: int
    removed_from_agents: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class ListPolicyAgentsRequest(Message):
    policy_id: int
    cursor: str
    limit: int
    def __init__(self, **members: Any) -> None: ...
class ListPolicyAgentsResponse(Message):
    agents: RepeatedField[PolicyAgent]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class PolicyAgent(Message):
    agent_name: str
    by_labels: bool
    def __init__(self, **members: Any) -> None: ...
class ListPolicyControlsRequest(Message):
    policy_id: int
    def __init__(self, **members: Any) -> None: ...
class ListPolicyControlsResponse(Message):
    control_ids: RepeatedField[int]
    def __init__(self, **members: Any) -> None: ...
class AddPolicyControlRequest(Message):
    policy_id: int
    control_id: int
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class AddPolicyControlResponse(Message):
    success: bool
    warnings: RepeatedField[Warning]
    version: int
    def __init__(self, **members: Any) -> None: ...
class RemovePolicyControlRequest(Message):
    policy_id: int
    control_id: int
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class RemovePolicyControlResponse(Message):
    success: bool
    version: int
    def __init__(self, **members: Any) -> None: ...
class AddPolicyAgentsRequest(Message):
    policy_id: int
    agent_names: RepeatedField[str]
    if_version: int
    def __init__(self, **members: Any) -> None: ...
class AddPolicyAgentsResponse(Message):
    success: bool
    added: int
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class RemovePolicyAgentsRequest(Message):
    policy_id: int
    agent_names: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class RemovePolicyAgentsResponse(Message):
    success: bool
    removed: int
    def __init__(self, **members: Any) -> None: ...
class ListAgentPoliciesRequest(Message):
    agent_name: str
    def __init__(self, **members: Any) -> None: ...
class ListAgentPoliciesResponse(Message):
    policy_ids: RepeatedField[int]
    policies: RepeatedField[Policy]
    def __init__(self, **members: Any) -> None: ...
class AddAgentPolicyRequest(Message):
    agent_name: str
    policy_id: int
    def __init__(self, **members: Any) -> None: ...
class AddAgentPolicyResponse(Message):
    success: bool
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class RemoveAgentPolicyRequest(Message):
    agent_name: str
    policy_id: int
    def __init__(self, **members: Any) -> None: ...
class RemoveAgentPolicyResponse(Message):
    success: bool
    def __init__(self, **members: Any) -> None: ...
class RemoveAllAgentPoliciesRequest(Message):
    agent_name: str
    def __init__(self, **members: Any) -> None: ...
class RemoveAllAgentPoliciesResponse(Message):
    success: bool
    def __init__(self, **members: Any) -> None: ...
class GetAgentPolicyRequest(Message):
    agent_name: str
    def __init__(self, **members: Any) -> None: ...
class GetAgentPolicyResponse(Message):
    policy_id: int
    def __init__(self, **members: Any) -> None: ...
class SetAgentPolicyRequest(Message):
    agent_name: str
    policy_id: int
    def __init__(self, **members: Any) -> None: ...
class SetAgentPolicyResponse(Message):
    success: bool
    old_policy_id: int
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class DeleteAgentPolicyRequest(Message):
    agent_name: str
    def __init__(self, **members: Any) -> None: ...
class DeleteAgentPolicyResponse(Message):
    success: bool
    def __init__(self, **members: Any) -> None: ...
class SamplingRule(Message):
    rule_id: int
    agent_name: str
    control_id: int
    share: float
    masked_paths: RepeatedField[str]
    masked_patterns: RepeatedField[str]
    max_bytes: int
    retention_hours: int
    ends_at: Any
    created_at: Any
    created_by: str
    sample_count: int
    dropped_samples: int
    def __init__(self, **members: Any) -> None: ...
class CreateSamplingRuleRequest(Message):
    agent_name: str
    control_id: int
    share: float
    masked_paths: RepeatedField[str]
    masked_patterns: RepeatedField[str]
    max_bytes: int
    retention_hours: int
    ends_at: Any
    def __init__(self, **members: Any) -> None: ...
class CreateSamplingRuleResponse(Message):
    rule: SamplingRule
    def __init__(self, **members: Any) -> None: ...
class ListSamplingRulesRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class ListSamplingRulesResponse(Message):
    rules: RepeatedField[SamplingRule]
    encrypted: bool
    def __init__(self, **members: Any) -> None: ...
class DeleteSamplingRuleRequest(Message):
    rule_id: int
    delete_samples: bool
    def __init__(self, **members: Any) -> None: ...
class DeleteSamplingRuleResponse(Message):
    deleted_samples: int
    def __init__(self, **members: Any) -> None: ...
class Sample(Message):
    decision_id: str
    rule_id: int
    agent_name: str
    step_type: str
    step_name: str
    stage: int
    outcome: int
    taken_at: Any
    expires_at: Any
    masked_values: int
    def __init__(self, **members: Any) -> None: ...
class ListSamplesRequest(Message):
    cursor: str
    limit: int
    agent_name: str
    rule_id: int
    def __init__(self, **members: Any) -> None: ...
class ListSamplesResponse(Message):
    samples: RepeatedField[Sample]
    pagination: Pagination
    def __init__(self, **members: Any) -> None: ...
class GetSampleRequest(Message):
    decision_id: str
    def __init__(self, **members: Any) -> None: ...
class GetSampleResponse(Message):
    sample: Sample
    step_json: str
    session_id: str
    target: str
    def __init__(self, **members: Any) -> None: ...
class ReplaySamplesRequest(Message):
    documents: RepeatedField[ConfigurationDocument]
    without_controls: RepeatedField[str]
    agent_name: str
    since: Any
    max_samples: int
    max_changes: int
    def __init__(self, **members: Any) -> None: ...
class ReplaySamplesResponse(Message):
    change: ReplayedChange
    progress: ReplayProgress
    summary: ReplaySummary
    def __init__(self, **members: Any) -> None: ...
class ReplayedChange(Message):
    sample: Sample
    live: int
    proposed: int
    live_reason: str
    proposed_reason: str
    added_controls: RepeatedField[str]
    removed_controls: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class ReplayProgress(Message):
    done: int
    total: int
    def __init__(self, **members: Any) -> None: ...
class ReplaySummary(Message):
    samples: int
    skipped: int
    changed: int
    newly_denied: int
    newly_allowed: int
    controls: RepeatedField[ReplayedControl]
    agents: RepeatedField[ReplayedAgent]
    live_p50_us: float
    live_p99_us: float
    proposed_p50_us: float
    proposed_p99_us: float
    without_memory: RepeatedField[str]
    false_positives: int
    false_positives_denied: int
    def __init__(self, **members: Any) -> None: ...
class ReplayedControl(Message):
    control_name: str
    live_matches: int
    proposed_matches: int
    def __init__(self, **members: Any) -> None: ...
class ReplayedAgent(Message):
    agent_name: str
    samples: int
    newly_denied: int
    newly_allowed: int
    def __init__(self, **members: Any) -> None: ...
class _ControlsSource(EnumTypeWrapper):
    CONTROLS_SOURCE_UNSPECIFIED: int
    CONTROLS_SOURCE_DATABASE: int
    CONTROLS_SOURCE_LAST_KNOWN_GOOD: int
    CONTROLS_SOURCE_NOTHING: int
ControlsSource: _ControlsSource
class _StorageState(EnumTypeWrapper):
    STORAGE_STATE_UNSPECIFIED: int
    STORAGE_STATE_OK: int
    STORAGE_STATE_NOSPACE: int
    STORAGE_STATE_READONLY: int
    STORAGE_STATE_REPLACED: int
    STORAGE_STATE_CORRUPT: int
    STORAGE_STATE_DOWN: int
StorageState: _StorageState
class _ProblemSeverity(EnumTypeWrapper):
    PROBLEM_SEVERITY_UNSPECIFIED: int
    PROBLEM_SEVERITY_NOTICE: int
    PROBLEM_SEVERITY_WARNING: int
    PROBLEM_SEVERITY_CRITICAL: int
ProblemSeverity: _ProblemSeverity
class GetServerInfoRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class GetServerInfoResponse(Message):
    version: str
    revision: int
    features: RepeatedField[str]
    max_message_bytes: int
    max_batch: int
    stream_window: int
    is_admin: bool
    state: ServerState
    caller_name: str
    is_limited_to_agents: bool
    agents: RepeatedField[str]
    caller_fingerprint: str
    namespace: str
    namespace_display_name: str
    role: str
    scopes: RepeatedField[str]
    namespaces: RepeatedField[str]
    def __init__(self, **members: Any) -> None: ...
class ServerState(Message):
    cannot_evaluate_because: str
    staleness_seconds: float
    controls_from: int
    database_up: bool
    storage_state: int
    storage_problem: str
    events_enabled: bool
    waiting_events: int
    lost_events: int
    recorded_results: str
    def __init__(self, **members: Any) -> None: ...
class ListProblemsRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class ListProblemsResponse(Message):
    working: bool
    problems: RepeatedField[Problem]
    checked_at: str
    def __init__(self, **members: Any) -> None: ...
class Problem(Message):
    kind: str
    severity: int
    title: str
    detail: str
    count: int
    subjects: RepeatedField[ProblemSubject]
    def __init__(self, **members: Any) -> None: ...
class ProblemSubject(Message):
    type: str
    id: str
    name: str
    detail: str
    def __init__(self, **members: Any) -> None: ...
class _ShadowShareBy(EnumTypeWrapper):
    SHADOW_SHARE_BY_UNSPECIFIED: int
    SHADOW_SHARE_BY_AGENT: int
    SHADOW_SHARE_BY_SESSION: int
ShadowShareBy: _ShadowShareBy
class Shadow(Message):
    control_id: int
    control_name: str
    shadow_version: int
    data: ControlDefinition
    share: float
    share_by: int
    set_at: Any
    set_by: str
    base_version: int
    both_matched: int
    neither_matched: int
    only_live_matched: int
    only_shadow_matched: int
    live_failed: int
    shadow_failed: int
    left_out: int
    differences: RepeatedField[ShadowDifference]
    def __init__(self, **members: Any) -> None: ...
class ShadowDifference(Message):
    decision_id: str
    agent_name: str
    step_type: str
    step_name: str
    stage: int
    shadow_matched: bool
    message: str
    at: Any
    def __init__(self, **members: Any) -> None: ...
class SetShadowRequest(Message):
    control_id: int
    data: ControlDefinition
    share: float
    share_by: int
    strict: bool
    def __init__(self, **members: Any) -> None: ...
class SetShadowResponse(Message):
    shadow: Shadow
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class GetShadowRequest(Message):
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class GetShadowResponse(Message):
    shadow: Shadow
    def __init__(self, **members: Any) -> None: ...
class ListShadowsRequest(Message):
    def __init__(self, **members: Any) -> None: ...
class ListShadowsResponse(Message):
    shadows: RepeatedField[Shadow]
    def __init__(self, **members: Any) -> None: ...
class PromoteShadowRequest(Message):
    control_id: int
    shadow_version: int
    def __init__(self, **members: Any) -> None: ...
class PromoteShadowResponse(Message):
    version: int
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
class DropShadowRequest(Message):
    control_id: int
    def __init__(self, **members: Any) -> None: ...
class DropShadowResponse(Message):
    def __init__(self, **members: Any) -> None: ...
class RenderTemplateRequest(Message):
    template: ControlTemplate
    template_values: Any
    strict: bool
    def __init__(self, **members: Any) -> None: ...
class RenderTemplateResponse(Message):
    control: ControlDefinition
    warnings: RepeatedField[Warning]
    def __init__(self, **members: Any) -> None: ...
