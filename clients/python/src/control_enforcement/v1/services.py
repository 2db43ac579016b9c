# Made by scripts/generate-python.mjs of the proto files: run "npm run generate:code".
"""The types of the services of a client: each RPC takes a message, or its members as in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Iterator, Mapping, Optional, Union

if TYPE_CHECKING:
    from typing import Protocol

    from . import (
        AddAgentControlRequest,
        AddAgentControlResponse,
        AddAgentPolicyRequest,
        AddAgentPolicyResponse,
        AddPolicyAgentsRequest,
        AddPolicyAgentsResponse,
        AddPolicyControlRequest,
        AddPolicyControlResponse,
        AnalyzeToolExecutionRequest,
        AnalyzeToolExecutionResponse,
        ApplyConfigurationRequest,
        ApplyConfigurationResponse,
        AwaitApprovalRequest,
        AwaitApprovalResponse,
        CancelAccessRequestRequest,
        CancelAccessRequestResponse,
        CancelApprovalRequest,
        CancelApprovalResponse,
        CloneAndBindControlRequest,
        CloneAndBindControlResponse,
        ComparePackInstallationRequest,
        ComparePackInstallationResponse,
        CreateAccessRequestRequest,
        CreateAccessRequestResponse,
        CreateControlBindingRequest,
        CreateControlBindingResponse,
        CreateControlRequest,
        CreateControlResponse,
        CreateDestinationRequest,
        CreateDestinationResponse,
        CreateEventsRequest,
        CreateEventsResponse,
        CreateHaltRequest,
        CreateHaltResponse,
        CreateKeyRequest,
        CreateKeyResponse,
        CreateNamespaceRequest,
        CreateNamespaceResponse,
        CreatePolicyRequest,
        CreatePolicyResponse,
        CreateSamplingRuleRequest,
        CreateSamplingRuleResponse,
        DecideApprovalRequest,
        DecideApprovalResponse,
        DeleteAgentPolicyRequest,
        DeleteAgentPolicyResponse,
        DeleteAgentRequest,
        DeleteAgentResponse,
        DeleteControlBindingByKeyRequest,
        DeleteControlBindingByKeyResponse,
        DeleteControlBindingRequest,
        DeleteControlBindingResponse,
        DeleteControlRequest,
        DeleteControlResponse,
        DeleteDestinationRequest,
        DeleteDestinationResponse,
        DeleteNamespaceRequest,
        DeleteNamespaceResponse,
        DeletePolicyRequest,
        DeletePolicyResponse,
        DeleteSamplingRuleRequest,
        DeleteSamplingRuleResponse,
        DropShadowRequest,
        DropShadowResponse,
        EvaluateAccessRequest,
        EvaluateAccessResponse,
        EvaluateAccessesRequest,
        EvaluateAccessesResponse,
        EvaluateAgentHookRequest,
        EvaluateAgentHookResponse,
        EvaluateBatchRequest,
        EvaluateBatchResponse,
        EvaluateCodingHookRequest,
        EvaluateCodingHookResponse,
        EvaluateGatewayCompletionRequest,
        EvaluateGatewayCompletionResponse,
        EvaluateGatewayPromptRequest,
        EvaluateGatewayPromptResponse,
        EvaluateLitellmGuardrailRequest,
        EvaluateLitellmGuardrailResponse,
        EvaluateRequest,
        EvaluateResponse,
        ExchangeRuntimeTokenRequest,
        ExchangeRuntimeTokenResponse,
        ExplainRequest,
        ExplainResponse,
        ExportAuditEntriesRequest,
        ExportAuditEntriesResponse,
        ExportConfigurationRequest,
        ExportConfigurationResponse,
        ExportEventsRequest,
        ExportEventsResponse,
        ExportNamespaceRequest,
        ExportNamespaceResponse,
        FlushEventsRequest,
        FlushEventsResponse,
        GetAccessRequestRequest,
        GetAccessRequestResponse,
        GetAgentEvaluatorRequest,
        GetAgentEvaluatorResponse,
        GetAgentPolicyRequest,
        GetAgentPolicyResponse,
        GetAgentRequest,
        GetAgentResponse,
        GetApprovalRequest,
        GetApprovalResponse,
        GetAuthzenConfigurationRequest,
        GetAuthzenConfigurationResponse,
        GetControlBindingRequest,
        GetControlBindingResponse,
        GetControlDataRequest,
        GetControlDataResponse,
        GetControlRequest,
        GetControlResponse,
        GetControlSchemaRequest,
        GetControlSchemaResponse,
        GetControlStatsRequest,
        GetControlStatsResponse,
        GetControlVersionRequest,
        GetControlVersionResponse,
        GetCoverageRequest,
        GetCoverageResponse,
        GetDestinationRequest,
        GetDestinationResponse,
        GetEvaluationStatsRequest,
        GetEvaluationStatsResponse,
        GetHaltRequest,
        GetHaltResponse,
        GetKeyRequest,
        GetKeyResponse,
        GetMemoryKeyRequest,
        GetMemoryKeyResponse,
        GetMemoryStatusRequest,
        GetMemoryStatusResponse,
        GetNamespaceRequest,
        GetNamespaceResponse,
        GetObservabilityStatusRequest,
        GetObservabilityStatusResponse,
        GetPackRequest,
        GetPackResponse,
        GetPolicyRequest,
        GetPolicyResponse,
        GetSampleRequest,
        GetSampleResponse,
        GetServerInfoRequest,
        GetServerInfoResponse,
        GetShadowRequest,
        GetShadowResponse,
        GetStatsOverviewRequest,
        GetStatsOverviewResponse,
        GetStatsRequest,
        GetStatsResponse,
        InitAgentRequest,
        InitAgentResponse,
        InspectExpressionRequest,
        InspectExpressionResponse,
        InstallPackRequest,
        InstallPackResponse,
        LiftHaltRequest,
        LiftHaltResponse,
        LintConfigurationRequest,
        LintConfigurationResponse,
        ListAgentControlsRequest,
        ListAgentControlsResponse,
        ListAgentEvaluatorsRequest,
        ListAgentEvaluatorsResponse,
        ListAgentLabelsRequest,
        ListAgentLabelsResponse,
        ListAgentPoliciesRequest,
        ListAgentPoliciesResponse,
        ListAgentsRequest,
        ListAgentsResponse,
        ListApprovalsRequest,
        ListApprovalsResponse,
        ListAuditEntriesRequest,
        ListAuditEntriesResponse,
        ListControlAgentsRequest,
        ListControlAgentsResponse,
        ListControlBindingsRequest,
        ListControlBindingsResponse,
        ListControlPoliciesRequest,
        ListControlPoliciesResponse,
        ListControlVersionsRequest,
        ListControlVersionsResponse,
        ListControlsRequest,
        ListControlsResponse,
        ListCoverageRequest,
        ListCoverageResponse,
        ListDeliveriesRequest,
        ListDeliveriesResponse,
        ListDestinationsRequest,
        ListDestinationsResponse,
        ListEvaluatorsRequest,
        ListEvaluatorsResponse,
        ListFalsePositivesRequest,
        ListFalsePositivesResponse,
        ListHaltsRequest,
        ListHaltsResponse,
        ListKeysRequest,
        ListKeysResponse,
        ListLimitsRequest,
        ListLimitsResponse,
        ListNamespacesRequest,
        ListNamespacesResponse,
        ListPackInstallationsRequest,
        ListPackInstallationsResponse,
        ListPacksRequest,
        ListPacksResponse,
        ListPoliciesRequest,
        ListPoliciesResponse,
        ListPolicyAgentsRequest,
        ListPolicyAgentsResponse,
        ListPolicyControlsRequest,
        ListPolicyControlsResponse,
        ListProblemsRequest,
        ListProblemsResponse,
        ListRolesRequest,
        ListRolesResponse,
        ListSamplesRequest,
        ListSamplesResponse,
        ListSamplingRulesRequest,
        ListSamplingRulesResponse,
        ListShadowsRequest,
        ListShadowsResponse,
        MarkFalsePositiveRequest,
        MarkFalsePositiveResponse,
        PreviewPackRequest,
        PreviewPackResponse,
        PromoteShadowRequest,
        PromoteShadowResponse,
        QueryEventsRequest,
        QueryEventsResponse,
        RemoveAgentControlRequest,
        RemoveAgentControlResponse,
        RemoveAgentPolicyRequest,
        RemoveAgentPolicyResponse,
        RemoveAllAgentPoliciesRequest,
        RemoveAllAgentPoliciesResponse,
        RemovePolicyAgentsRequest,
        RemovePolicyAgentsResponse,
        RemovePolicyControlRequest,
        RemovePolicyControlResponse,
        RenderTemplateRequest,
        RenderTemplateResponse,
        ReplaySamplesRequest,
        ReplaySamplesResponse,
        ResendDeliveryRequest,
        ResendDeliveryResponse,
        ResetMemoryKeyRequest,
        ResetMemoryKeyResponse,
        RestoreControlVersionRequest,
        RestoreControlVersionResponse,
        RevokeKeyRequest,
        RevokeKeyResponse,
        RotateDestinationSecretRequest,
        RotateDestinationSecretResponse,
        RotateKeyRequest,
        RotateKeyResponse,
        SetAgentPolicyRequest,
        SetAgentPolicyResponse,
        SetControlDataRequest,
        SetControlDataResponse,
        SetExpectationsRequest,
        SetExpectationsResponse,
        SetShadowRequest,
        SetShadowResponse,
        TestDestinationRequest,
        TestDestinationResponse,
        UninstallPackRequest,
        UninstallPackResponse,
        UnmarkFalsePositiveRequest,
        UnmarkFalsePositiveResponse,
        UpdateAgentRequest,
        UpdateAgentResponse,
        UpdateControlBindingByKeyRequest,
        UpdateControlBindingByKeyResponse,
        UpdateControlBindingRequest,
        UpdateControlBindingResponse,
        UpdateControlRequest,
        UpdateControlResponse,
        UpdateDestinationRequest,
        UpdateDestinationResponse,
        UpdateNamespaceRequest,
        UpdateNamespaceResponse,
        UpdatePackInstallationRequest,
        UpdatePackInstallationResponse,
        UpdatePolicyRequest,
        UpdatePolicyResponse,
        UpsertControlBindingRequest,
        UpsertControlBindingResponse,
        ValidateControlRequest,
        ValidateControlResponse,
        ValidateThreatDetectionRequest,
        ValidateThreatDetectionResponse,
        VerifyAuditRequest,
        VerifyAuditResponse,
        WatchApprovalsRequest,
        WatchApprovalsResponse,
        WatchControlsRequest,
        WatchControlsResponse,
        WatchEventsRequest,
        WatchEventsResponse,
    )
else:
    Protocol = object

Members = Mapping[str, Any]


class AccessRequestService(Protocol):
    def create_access_request(
        self, request: Union[CreateAccessRequestRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateAccessRequestResponse: ...
    def get_access_request(
        self, request: Union[GetAccessRequestRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAccessRequestResponse: ...
    def cancel_access_request(
        self, request: Union[CancelAccessRequestRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CancelAccessRequestResponse: ...


class AdapterService(Protocol):
    def evaluate_coding_hook(
        self, request: Union[EvaluateCodingHookRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateCodingHookResponse: ...
    def evaluate_litellm_guardrail(
        self, request: Union[EvaluateLitellmGuardrailRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateLitellmGuardrailResponse: ...
    def analyze_tool_execution(
        self, request: Union[AnalyzeToolExecutionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AnalyzeToolExecutionResponse: ...
    def validate_threat_detection(
        self, request: Union[ValidateThreatDetectionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ValidateThreatDetectionResponse: ...
    def evaluate_gateway_prompt(
        self, request: Union[EvaluateGatewayPromptRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateGatewayPromptResponse: ...
    def evaluate_gateway_completion(
        self, request: Union[EvaluateGatewayCompletionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateGatewayCompletionResponse: ...
    def evaluate_agent_hook(
        self, request: Union[EvaluateAgentHookRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateAgentHookResponse: ...


class AgentService(Protocol):
    def list_agents(
        self, request: Union[ListAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentsResponse: ...
    def list_agent_labels(
        self, request: Union[ListAgentLabelsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentLabelsResponse: ...
    def init_agent(
        self, request: Union[InitAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> InitAgentResponse: ...
    def get_agent(
        self, request: Union[GetAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAgentResponse: ...
    def update_agent(
        self, request: Union[UpdateAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateAgentResponse: ...
    def delete_agent(
        self, request: Union[DeleteAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteAgentResponse: ...
    def list_agent_evaluators(
        self, request: Union[ListAgentEvaluatorsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentEvaluatorsResponse: ...
    def get_agent_evaluator(
        self, request: Union[GetAgentEvaluatorRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAgentEvaluatorResponse: ...
    def list_agent_controls(
        self, request: Union[ListAgentControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentControlsResponse: ...
    def watch_controls(
        self, request: Union[WatchControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[WatchControlsResponse]: ...
    def add_agent_control(
        self, request: Union[AddAgentControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddAgentControlResponse: ...
    def remove_agent_control(
        self, request: Union[RemoveAgentControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemoveAgentControlResponse: ...


class EvaluationService(Protocol):
    def evaluate(
        self, request: Union[EvaluateRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateResponse: ...
    def evaluate_batch(
        self, request: Union[EvaluateBatchRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateBatchResponse: ...
    def explain(
        self, request: Union[ExplainRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ExplainResponse: ...


class ApprovalService(Protocol):
    def list_approvals(
        self, request: Union[ListApprovalsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListApprovalsResponse: ...
    def get_approval(
        self, request: Union[GetApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetApprovalResponse: ...
    def decide_approval(
        self, request: Union[DecideApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DecideApprovalResponse: ...
    def cancel_approval(
        self, request: Union[CancelApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CancelApprovalResponse: ...
    def await_approval(
        self, request: Union[AwaitApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AwaitApprovalResponse: ...
    def watch_approvals(
        self, request: Union[WatchApprovalsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[WatchApprovalsResponse]: ...


class AuditService(Protocol):
    def list_audit_entries(
        self, request: Union[ListAuditEntriesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAuditEntriesResponse: ...
    def export_audit_entries(
        self, request: Union[ExportAuditEntriesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[ExportAuditEntriesResponse]: ...
    def verify_audit(
        self, request: Union[VerifyAuditRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> VerifyAuditResponse: ...


class AuthService(Protocol):
    def exchange_runtime_token(
        self, request: Union[ExchangeRuntimeTokenRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ExchangeRuntimeTokenResponse: ...


class AuthzenService(Protocol):
    def evaluate_access(
        self, request: Union[EvaluateAccessRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateAccessResponse: ...
    def evaluate_accesses(
        self, request: Union[EvaluateAccessesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateAccessesResponse: ...
    def get_authzen_configuration(
        self, request: Union[GetAuthzenConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAuthzenConfigurationResponse: ...


class ConfigurationService(Protocol):
    def apply_configuration(
        self, request: Union[ApplyConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ApplyConfigurationResponse: ...
    def export_configuration(
        self, request: Union[ExportConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[ExportConfigurationResponse]: ...
    def lint_configuration(
        self, request: Union[LintConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> LintConfigurationResponse: ...


class ControlBindingService(Protocol):
    def create_control_binding(
        self, request: Union[CreateControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateControlBindingResponse: ...
    def list_control_bindings(
        self, request: Union[ListControlBindingsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlBindingsResponse: ...
    def upsert_control_binding(
        self, request: Union[UpsertControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpsertControlBindingResponse: ...
    def update_control_binding_by_key(
        self, request: Union[UpdateControlBindingByKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateControlBindingByKeyResponse: ...
    def delete_control_binding_by_key(
        self, request: Union[DeleteControlBindingByKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteControlBindingByKeyResponse: ...
    def get_control_binding(
        self, request: Union[GetControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlBindingResponse: ...
    def update_control_binding(
        self, request: Union[UpdateControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateControlBindingResponse: ...
    def delete_control_binding(
        self, request: Union[DeleteControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteControlBindingResponse: ...


class ControlService(Protocol):
    def create_control(
        self, request: Union[CreateControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateControlResponse: ...
    def list_controls(
        self, request: Union[ListControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlsResponse: ...
    def get_control_schema(
        self, request: Union[GetControlSchemaRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlSchemaResponse: ...
    def validate_control(
        self, request: Union[ValidateControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ValidateControlResponse: ...
    def inspect_expression(
        self, request: Union[InspectExpressionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> InspectExpressionResponse: ...
    def get_control(
        self, request: Union[GetControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlResponse: ...
    def update_control(
        self, request: Union[UpdateControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateControlResponse: ...
    def delete_control(
        self, request: Union[DeleteControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteControlResponse: ...
    def clone_and_bind_control(
        self, request: Union[CloneAndBindControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CloneAndBindControlResponse: ...
    def list_control_agents(
        self, request: Union[ListControlAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlAgentsResponse: ...
    def list_control_policies(
        self, request: Union[ListControlPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlPoliciesResponse: ...
    def list_control_versions(
        self, request: Union[ListControlVersionsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlVersionsResponse: ...
    def get_control_version(
        self, request: Union[GetControlVersionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlVersionResponse: ...
    def restore_control_version(
        self, request: Union[RestoreControlVersionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RestoreControlVersionResponse: ...
    def get_control_data(
        self, request: Union[GetControlDataRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlDataResponse: ...
    def set_control_data(
        self, request: Union[SetControlDataRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetControlDataResponse: ...


class CoverageService(Protocol):
    def list_coverage(
        self, request: Union[ListCoverageRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListCoverageResponse: ...
    def get_coverage(
        self, request: Union[GetCoverageRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetCoverageResponse: ...
    def set_expectations(
        self, request: Union[SetExpectationsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetExpectationsResponse: ...


class EvaluatorService(Protocol):
    def list_evaluators(
        self, request: Union[ListEvaluatorsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListEvaluatorsResponse: ...


class HaltService(Protocol):
    def create_halt(
        self, request: Union[CreateHaltRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateHaltResponse: ...
    def list_halts(
        self, request: Union[ListHaltsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListHaltsResponse: ...
    def get_halt(
        self, request: Union[GetHaltRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetHaltResponse: ...
    def lift_halt(
        self, request: Union[LiftHaltRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> LiftHaltResponse: ...


class KeyService(Protocol):
    def create_key(
        self, request: Union[CreateKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateKeyResponse: ...
    def list_keys(
        self, request: Union[ListKeysRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListKeysResponse: ...
    def get_key(
        self, request: Union[GetKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetKeyResponse: ...
    def rotate_key(
        self, request: Union[RotateKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RotateKeyResponse: ...
    def revoke_key(
        self, request: Union[RevokeKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RevokeKeyResponse: ...
    def list_roles(
        self, request: Union[ListRolesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListRolesResponse: ...


class MemoryService(Protocol):
    def list_limits(
        self, request: Union[ListLimitsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListLimitsResponse: ...
    def get_memory_key(
        self, request: Union[GetMemoryKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetMemoryKeyResponse: ...
    def reset_memory_key(
        self, request: Union[ResetMemoryKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ResetMemoryKeyResponse: ...
    def get_memory_status(
        self, request: Union[GetMemoryStatusRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetMemoryStatusResponse: ...


class NamespaceService(Protocol):
    def create_namespace(
        self, request: Union[CreateNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateNamespaceResponse: ...
    def list_namespaces(
        self, request: Union[ListNamespacesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListNamespacesResponse: ...
    def get_namespace(
        self, request: Union[GetNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetNamespaceResponse: ...
    def update_namespace(
        self, request: Union[UpdateNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateNamespaceResponse: ...
    def export_namespace(
        self, request: Union[ExportNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[ExportNamespaceResponse]: ...
    def delete_namespace(
        self, request: Union[DeleteNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteNamespaceResponse: ...


class NotificationService(Protocol):
    def create_destination(
        self, request: Union[CreateDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateDestinationResponse: ...
    def list_destinations(
        self, request: Union[ListDestinationsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListDestinationsResponse: ...
    def get_destination(
        self, request: Union[GetDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetDestinationResponse: ...
    def update_destination(
        self, request: Union[UpdateDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateDestinationResponse: ...
    def delete_destination(
        self, request: Union[DeleteDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteDestinationResponse: ...
    def rotate_destination_secret(
        self, request: Union[RotateDestinationSecretRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RotateDestinationSecretResponse: ...
    def test_destination(
        self, request: Union[TestDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> TestDestinationResponse: ...
    def list_deliveries(
        self, request: Union[ListDeliveriesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListDeliveriesResponse: ...
    def resend_delivery(
        self, request: Union[ResendDeliveryRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ResendDeliveryResponse: ...


class ObservabilityService(Protocol):
    def create_events(
        self, request: Union[CreateEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateEventsResponse: ...
    def flush_events(
        self, request: Union[FlushEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> FlushEventsResponse: ...
    def query_events(
        self, request: Union[QueryEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> QueryEventsResponse: ...
    def export_events(
        self, request: Union[ExportEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[ExportEventsResponse]: ...
    def watch_events(
        self, request: Union[WatchEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[WatchEventsResponse]: ...
    def get_stats(
        self, request: Union[GetStatsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetStatsResponse: ...
    def get_control_stats(
        self, request: Union[GetControlStatsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlStatsResponse: ...
    def get_stats_overview(
        self, request: Union[GetStatsOverviewRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetStatsOverviewResponse: ...
    def get_evaluation_stats(
        self, request: Union[GetEvaluationStatsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetEvaluationStatsResponse: ...
    def mark_false_positive(
        self, request: Union[MarkFalsePositiveRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> MarkFalsePositiveResponse: ...
    def unmark_false_positive(
        self, request: Union[UnmarkFalsePositiveRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UnmarkFalsePositiveResponse: ...
    def list_false_positives(
        self, request: Union[ListFalsePositivesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListFalsePositivesResponse: ...
    def get_observability_status(
        self, request: Union[GetObservabilityStatusRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetObservabilityStatusResponse: ...


class PackService(Protocol):
    def list_packs(
        self, request: Union[ListPacksRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPacksResponse: ...
    def get_pack(
        self, request: Union[GetPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetPackResponse: ...
    def preview_pack(
        self, request: Union[PreviewPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> PreviewPackResponse: ...
    def install_pack(
        self, request: Union[InstallPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> InstallPackResponse: ...
    def list_pack_installations(
        self, request: Union[ListPackInstallationsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPackInstallationsResponse: ...
    def compare_pack_installation(
        self, request: Union[ComparePackInstallationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ComparePackInstallationResponse: ...
    def update_pack_installation(
        self, request: Union[UpdatePackInstallationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdatePackInstallationResponse: ...
    def uninstall_pack(
        self, request: Union[UninstallPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UninstallPackResponse: ...


class PolicyService(Protocol):
    def create_policy(
        self, request: Union[CreatePolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreatePolicyResponse: ...
    def list_policies(
        self, request: Union[ListPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPoliciesResponse: ...
    def get_policy(
        self, request: Union[GetPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetPolicyResponse: ...
    def update_policy(
        self, request: Union[UpdatePolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdatePolicyResponse: ...
    def delete_policy(
        self, request: Union[DeletePolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeletePolicyResponse: ...
    def list_policy_agents(
        self, request: Union[ListPolicyAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPolicyAgentsResponse: ...
    def list_policy_controls(
        self, request: Union[ListPolicyControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPolicyControlsResponse: ...
    def add_policy_control(
        self, request: Union[AddPolicyControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddPolicyControlResponse: ...
    def remove_policy_control(
        self, request: Union[RemovePolicyControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemovePolicyControlResponse: ...
    def add_policy_agents(
        self, request: Union[AddPolicyAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddPolicyAgentsResponse: ...
    def remove_policy_agents(
        self, request: Union[RemovePolicyAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemovePolicyAgentsResponse: ...
    def list_agent_policies(
        self, request: Union[ListAgentPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentPoliciesResponse: ...
    def add_agent_policy(
        self, request: Union[AddAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddAgentPolicyResponse: ...
    def remove_agent_policy(
        self, request: Union[RemoveAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemoveAgentPolicyResponse: ...
    def remove_all_agent_policies(
        self, request: Union[RemoveAllAgentPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemoveAllAgentPoliciesResponse: ...
    def get_agent_policy(
        self, request: Union[GetAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAgentPolicyResponse: ...
    def set_agent_policy(
        self, request: Union[SetAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetAgentPolicyResponse: ...
    def delete_agent_policy(
        self, request: Union[DeleteAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteAgentPolicyResponse: ...


class SampleService(Protocol):
    def create_sampling_rule(
        self, request: Union[CreateSamplingRuleRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateSamplingRuleResponse: ...
    def list_sampling_rules(
        self, request: Union[ListSamplingRulesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListSamplingRulesResponse: ...
    def delete_sampling_rule(
        self, request: Union[DeleteSamplingRuleRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteSamplingRuleResponse: ...
    def list_samples(
        self, request: Union[ListSamplesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListSamplesResponse: ...
    def get_sample(
        self, request: Union[GetSampleRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetSampleResponse: ...
    def replay_samples(
        self, request: Union[ReplaySamplesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> Iterator[ReplaySamplesResponse]: ...


class ServerService(Protocol):
    def get_server_info(
        self, request: Union[GetServerInfoRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetServerInfoResponse: ...
    def list_problems(
        self, request: Union[ListProblemsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListProblemsResponse: ...


class ShadowService(Protocol):
    def set_shadow(
        self, request: Union[SetShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetShadowResponse: ...
    def get_shadow(
        self, request: Union[GetShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetShadowResponse: ...
    def list_shadows(
        self, request: Union[ListShadowsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListShadowsResponse: ...
    def promote_shadow(
        self, request: Union[PromoteShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> PromoteShadowResponse: ...
    def drop_shadow(
        self, request: Union[DropShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DropShadowResponse: ...


class TemplateService(Protocol):
    def render_template(
        self, request: Union[RenderTemplateRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RenderTemplateResponse: ...


class AsyncAccessRequestService(Protocol):
    async def create_access_request(
        self, request: Union[CreateAccessRequestRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateAccessRequestResponse: ...
    async def get_access_request(
        self, request: Union[GetAccessRequestRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAccessRequestResponse: ...
    async def cancel_access_request(
        self, request: Union[CancelAccessRequestRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CancelAccessRequestResponse: ...


class AsyncAdapterService(Protocol):
    async def evaluate_coding_hook(
        self, request: Union[EvaluateCodingHookRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateCodingHookResponse: ...
    async def evaluate_litellm_guardrail(
        self, request: Union[EvaluateLitellmGuardrailRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateLitellmGuardrailResponse: ...
    async def analyze_tool_execution(
        self, request: Union[AnalyzeToolExecutionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AnalyzeToolExecutionResponse: ...
    async def validate_threat_detection(
        self, request: Union[ValidateThreatDetectionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ValidateThreatDetectionResponse: ...
    async def evaluate_gateway_prompt(
        self, request: Union[EvaluateGatewayPromptRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateGatewayPromptResponse: ...
    async def evaluate_gateway_completion(
        self, request: Union[EvaluateGatewayCompletionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateGatewayCompletionResponse: ...
    async def evaluate_agent_hook(
        self, request: Union[EvaluateAgentHookRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateAgentHookResponse: ...


class AsyncAgentService(Protocol):
    async def list_agents(
        self, request: Union[ListAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentsResponse: ...
    async def list_agent_labels(
        self, request: Union[ListAgentLabelsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentLabelsResponse: ...
    async def init_agent(
        self, request: Union[InitAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> InitAgentResponse: ...
    async def get_agent(
        self, request: Union[GetAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAgentResponse: ...
    async def update_agent(
        self, request: Union[UpdateAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateAgentResponse: ...
    async def delete_agent(
        self, request: Union[DeleteAgentRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteAgentResponse: ...
    async def list_agent_evaluators(
        self, request: Union[ListAgentEvaluatorsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentEvaluatorsResponse: ...
    async def get_agent_evaluator(
        self, request: Union[GetAgentEvaluatorRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAgentEvaluatorResponse: ...
    async def list_agent_controls(
        self, request: Union[ListAgentControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentControlsResponse: ...
    def watch_controls(
        self, request: Union[WatchControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[WatchControlsResponse]: ...
    async def add_agent_control(
        self, request: Union[AddAgentControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddAgentControlResponse: ...
    async def remove_agent_control(
        self, request: Union[RemoveAgentControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemoveAgentControlResponse: ...


class AsyncEvaluationService(Protocol):
    async def evaluate(
        self, request: Union[EvaluateRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateResponse: ...
    async def evaluate_batch(
        self, request: Union[EvaluateBatchRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateBatchResponse: ...
    async def explain(
        self, request: Union[ExplainRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ExplainResponse: ...


class AsyncApprovalService(Protocol):
    async def list_approvals(
        self, request: Union[ListApprovalsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListApprovalsResponse: ...
    async def get_approval(
        self, request: Union[GetApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetApprovalResponse: ...
    async def decide_approval(
        self, request: Union[DecideApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DecideApprovalResponse: ...
    async def cancel_approval(
        self, request: Union[CancelApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CancelApprovalResponse: ...
    async def await_approval(
        self, request: Union[AwaitApprovalRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AwaitApprovalResponse: ...
    def watch_approvals(
        self, request: Union[WatchApprovalsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[WatchApprovalsResponse]: ...


class AsyncAuditService(Protocol):
    async def list_audit_entries(
        self, request: Union[ListAuditEntriesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAuditEntriesResponse: ...
    def export_audit_entries(
        self, request: Union[ExportAuditEntriesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[ExportAuditEntriesResponse]: ...
    async def verify_audit(
        self, request: Union[VerifyAuditRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> VerifyAuditResponse: ...


class AsyncAuthService(Protocol):
    async def exchange_runtime_token(
        self, request: Union[ExchangeRuntimeTokenRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ExchangeRuntimeTokenResponse: ...


class AsyncAuthzenService(Protocol):
    async def evaluate_access(
        self, request: Union[EvaluateAccessRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateAccessResponse: ...
    async def evaluate_accesses(
        self, request: Union[EvaluateAccessesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> EvaluateAccessesResponse: ...
    async def get_authzen_configuration(
        self, request: Union[GetAuthzenConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAuthzenConfigurationResponse: ...


class AsyncConfigurationService(Protocol):
    async def apply_configuration(
        self, request: Union[ApplyConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ApplyConfigurationResponse: ...
    def export_configuration(
        self, request: Union[ExportConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[ExportConfigurationResponse]: ...
    async def lint_configuration(
        self, request: Union[LintConfigurationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> LintConfigurationResponse: ...


class AsyncControlBindingService(Protocol):
    async def create_control_binding(
        self, request: Union[CreateControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateControlBindingResponse: ...
    async def list_control_bindings(
        self, request: Union[ListControlBindingsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlBindingsResponse: ...
    async def upsert_control_binding(
        self, request: Union[UpsertControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpsertControlBindingResponse: ...
    async def update_control_binding_by_key(
        self, request: Union[UpdateControlBindingByKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateControlBindingByKeyResponse: ...
    async def delete_control_binding_by_key(
        self, request: Union[DeleteControlBindingByKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteControlBindingByKeyResponse: ...
    async def get_control_binding(
        self, request: Union[GetControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlBindingResponse: ...
    async def update_control_binding(
        self, request: Union[UpdateControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateControlBindingResponse: ...
    async def delete_control_binding(
        self, request: Union[DeleteControlBindingRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteControlBindingResponse: ...


class AsyncControlService(Protocol):
    async def create_control(
        self, request: Union[CreateControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateControlResponse: ...
    async def list_controls(
        self, request: Union[ListControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlsResponse: ...
    async def get_control_schema(
        self, request: Union[GetControlSchemaRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlSchemaResponse: ...
    async def validate_control(
        self, request: Union[ValidateControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ValidateControlResponse: ...
    async def inspect_expression(
        self, request: Union[InspectExpressionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> InspectExpressionResponse: ...
    async def get_control(
        self, request: Union[GetControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlResponse: ...
    async def update_control(
        self, request: Union[UpdateControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateControlResponse: ...
    async def delete_control(
        self, request: Union[DeleteControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteControlResponse: ...
    async def clone_and_bind_control(
        self, request: Union[CloneAndBindControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CloneAndBindControlResponse: ...
    async def list_control_agents(
        self, request: Union[ListControlAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlAgentsResponse: ...
    async def list_control_policies(
        self, request: Union[ListControlPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlPoliciesResponse: ...
    async def list_control_versions(
        self, request: Union[ListControlVersionsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListControlVersionsResponse: ...
    async def get_control_version(
        self, request: Union[GetControlVersionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlVersionResponse: ...
    async def restore_control_version(
        self, request: Union[RestoreControlVersionRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RestoreControlVersionResponse: ...
    async def get_control_data(
        self, request: Union[GetControlDataRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlDataResponse: ...
    async def set_control_data(
        self, request: Union[SetControlDataRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetControlDataResponse: ...


class AsyncCoverageService(Protocol):
    async def list_coverage(
        self, request: Union[ListCoverageRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListCoverageResponse: ...
    async def get_coverage(
        self, request: Union[GetCoverageRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetCoverageResponse: ...
    async def set_expectations(
        self, request: Union[SetExpectationsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetExpectationsResponse: ...


class AsyncEvaluatorService(Protocol):
    async def list_evaluators(
        self, request: Union[ListEvaluatorsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListEvaluatorsResponse: ...


class AsyncHaltService(Protocol):
    async def create_halt(
        self, request: Union[CreateHaltRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateHaltResponse: ...
    async def list_halts(
        self, request: Union[ListHaltsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListHaltsResponse: ...
    async def get_halt(
        self, request: Union[GetHaltRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetHaltResponse: ...
    async def lift_halt(
        self, request: Union[LiftHaltRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> LiftHaltResponse: ...


class AsyncKeyService(Protocol):
    async def create_key(
        self, request: Union[CreateKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateKeyResponse: ...
    async def list_keys(
        self, request: Union[ListKeysRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListKeysResponse: ...
    async def get_key(
        self, request: Union[GetKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetKeyResponse: ...
    async def rotate_key(
        self, request: Union[RotateKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RotateKeyResponse: ...
    async def revoke_key(
        self, request: Union[RevokeKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RevokeKeyResponse: ...
    async def list_roles(
        self, request: Union[ListRolesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListRolesResponse: ...


class AsyncMemoryService(Protocol):
    async def list_limits(
        self, request: Union[ListLimitsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListLimitsResponse: ...
    async def get_memory_key(
        self, request: Union[GetMemoryKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetMemoryKeyResponse: ...
    async def reset_memory_key(
        self, request: Union[ResetMemoryKeyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ResetMemoryKeyResponse: ...
    async def get_memory_status(
        self, request: Union[GetMemoryStatusRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetMemoryStatusResponse: ...


class AsyncNamespaceService(Protocol):
    async def create_namespace(
        self, request: Union[CreateNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateNamespaceResponse: ...
    async def list_namespaces(
        self, request: Union[ListNamespacesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListNamespacesResponse: ...
    async def get_namespace(
        self, request: Union[GetNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetNamespaceResponse: ...
    async def update_namespace(
        self, request: Union[UpdateNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateNamespaceResponse: ...
    def export_namespace(
        self, request: Union[ExportNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[ExportNamespaceResponse]: ...
    async def delete_namespace(
        self, request: Union[DeleteNamespaceRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteNamespaceResponse: ...


class AsyncNotificationService(Protocol):
    async def create_destination(
        self, request: Union[CreateDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateDestinationResponse: ...
    async def list_destinations(
        self, request: Union[ListDestinationsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListDestinationsResponse: ...
    async def get_destination(
        self, request: Union[GetDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetDestinationResponse: ...
    async def update_destination(
        self, request: Union[UpdateDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdateDestinationResponse: ...
    async def delete_destination(
        self, request: Union[DeleteDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteDestinationResponse: ...
    async def rotate_destination_secret(
        self, request: Union[RotateDestinationSecretRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RotateDestinationSecretResponse: ...
    async def test_destination(
        self, request: Union[TestDestinationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> TestDestinationResponse: ...
    async def list_deliveries(
        self, request: Union[ListDeliveriesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListDeliveriesResponse: ...
    async def resend_delivery(
        self, request: Union[ResendDeliveryRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ResendDeliveryResponse: ...


class AsyncObservabilityService(Protocol):
    async def create_events(
        self, request: Union[CreateEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateEventsResponse: ...
    async def flush_events(
        self, request: Union[FlushEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> FlushEventsResponse: ...
    async def query_events(
        self, request: Union[QueryEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> QueryEventsResponse: ...
    def export_events(
        self, request: Union[ExportEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[ExportEventsResponse]: ...
    def watch_events(
        self, request: Union[WatchEventsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[WatchEventsResponse]: ...
    async def get_stats(
        self, request: Union[GetStatsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetStatsResponse: ...
    async def get_control_stats(
        self, request: Union[GetControlStatsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetControlStatsResponse: ...
    async def get_stats_overview(
        self, request: Union[GetStatsOverviewRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetStatsOverviewResponse: ...
    async def get_evaluation_stats(
        self, request: Union[GetEvaluationStatsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetEvaluationStatsResponse: ...
    async def mark_false_positive(
        self, request: Union[MarkFalsePositiveRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> MarkFalsePositiveResponse: ...
    async def unmark_false_positive(
        self, request: Union[UnmarkFalsePositiveRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UnmarkFalsePositiveResponse: ...
    async def list_false_positives(
        self, request: Union[ListFalsePositivesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListFalsePositivesResponse: ...
    async def get_observability_status(
        self, request: Union[GetObservabilityStatusRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetObservabilityStatusResponse: ...


class AsyncPackService(Protocol):
    async def list_packs(
        self, request: Union[ListPacksRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPacksResponse: ...
    async def get_pack(
        self, request: Union[GetPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetPackResponse: ...
    async def preview_pack(
        self, request: Union[PreviewPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> PreviewPackResponse: ...
    async def install_pack(
        self, request: Union[InstallPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> InstallPackResponse: ...
    async def list_pack_installations(
        self, request: Union[ListPackInstallationsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPackInstallationsResponse: ...
    async def compare_pack_installation(
        self, request: Union[ComparePackInstallationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ComparePackInstallationResponse: ...
    async def update_pack_installation(
        self, request: Union[UpdatePackInstallationRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdatePackInstallationResponse: ...
    async def uninstall_pack(
        self, request: Union[UninstallPackRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UninstallPackResponse: ...


class AsyncPolicyService(Protocol):
    async def create_policy(
        self, request: Union[CreatePolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreatePolicyResponse: ...
    async def list_policies(
        self, request: Union[ListPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPoliciesResponse: ...
    async def get_policy(
        self, request: Union[GetPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetPolicyResponse: ...
    async def update_policy(
        self, request: Union[UpdatePolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> UpdatePolicyResponse: ...
    async def delete_policy(
        self, request: Union[DeletePolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeletePolicyResponse: ...
    async def list_policy_agents(
        self, request: Union[ListPolicyAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPolicyAgentsResponse: ...
    async def list_policy_controls(
        self, request: Union[ListPolicyControlsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListPolicyControlsResponse: ...
    async def add_policy_control(
        self, request: Union[AddPolicyControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddPolicyControlResponse: ...
    async def remove_policy_control(
        self, request: Union[RemovePolicyControlRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemovePolicyControlResponse: ...
    async def add_policy_agents(
        self, request: Union[AddPolicyAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddPolicyAgentsResponse: ...
    async def remove_policy_agents(
        self, request: Union[RemovePolicyAgentsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemovePolicyAgentsResponse: ...
    async def list_agent_policies(
        self, request: Union[ListAgentPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListAgentPoliciesResponse: ...
    async def add_agent_policy(
        self, request: Union[AddAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AddAgentPolicyResponse: ...
    async def remove_agent_policy(
        self, request: Union[RemoveAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemoveAgentPolicyResponse: ...
    async def remove_all_agent_policies(
        self, request: Union[RemoveAllAgentPoliciesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RemoveAllAgentPoliciesResponse: ...
    async def get_agent_policy(
        self, request: Union[GetAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetAgentPolicyResponse: ...
    async def set_agent_policy(
        self, request: Union[SetAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetAgentPolicyResponse: ...
    async def delete_agent_policy(
        self, request: Union[DeleteAgentPolicyRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteAgentPolicyResponse: ...


class AsyncSampleService(Protocol):
    async def create_sampling_rule(
        self, request: Union[CreateSamplingRuleRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> CreateSamplingRuleResponse: ...
    async def list_sampling_rules(
        self, request: Union[ListSamplingRulesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListSamplingRulesResponse: ...
    async def delete_sampling_rule(
        self, request: Union[DeleteSamplingRuleRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DeleteSamplingRuleResponse: ...
    async def list_samples(
        self, request: Union[ListSamplesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListSamplesResponse: ...
    async def get_sample(
        self, request: Union[GetSampleRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetSampleResponse: ...
    def replay_samples(
        self, request: Union[ReplaySamplesRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> AsyncIterator[ReplaySamplesResponse]: ...


class AsyncServerService(Protocol):
    async def get_server_info(
        self, request: Union[GetServerInfoRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetServerInfoResponse: ...
    async def list_problems(
        self, request: Union[ListProblemsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListProblemsResponse: ...


class AsyncShadowService(Protocol):
    async def set_shadow(
        self, request: Union[SetShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> SetShadowResponse: ...
    async def get_shadow(
        self, request: Union[GetShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> GetShadowResponse: ...
    async def list_shadows(
        self, request: Union[ListShadowsRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> ListShadowsResponse: ...
    async def promote_shadow(
        self, request: Union[PromoteShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> PromoteShadowResponse: ...
    async def drop_shadow(
        self, request: Union[DropShadowRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> DropShadowResponse: ...


class AsyncTemplateService(Protocol):
    async def render_template(
        self, request: Union[RenderTemplateRequest, Members, None] = None, *, timeout: Optional[float] = None
    ) -> RenderTemplateResponse: ...
