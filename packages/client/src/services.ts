import {
  createClient as createRpcClient,
  type Client as RpcClient,
  type Transport,
} from '@connectrpc/connect';
import { AgentService } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ApprovalService } from '../../../gen/proto/enforcement/v1/approval_service_pb.js';
import { AuditService } from '../../../gen/proto/enforcement/v1/audit_service_pb.js';
import { ControlService } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluatorService } from '../../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { ObservabilityService } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { PolicyService } from '../../../gen/proto/enforcement/v1/policy_service_pb.js';
import { ServerService } from '../../../gen/proto/enforcement/v1/server_service_pb.js';
import { TemplateService } from '../../../gen/proto/enforcement/v1/template_service_pb.js';

/**
 * The other services over the transport of the client, as clients of Connect: each RPC is a function that takes a
 * message and options (`headers`, `signal`, `timeoutMs`) and rejects with a ConnectError. They do not retry.
 */
export interface Services {
  readonly agents: RpcClient<typeof AgentService>;
  readonly controls: RpcClient<typeof ControlService>;
  readonly policies: RpcClient<typeof PolicyService>;
  readonly templates: RpcClient<typeof TemplateService>;
  readonly evaluators: RpcClient<typeof EvaluatorService>;
  readonly observability: RpcClient<typeof ObservabilityService>;
  readonly approvals: RpcClient<typeof ApprovalService>;
  readonly audit: RpcClient<typeof AuditService>;
  readonly server: RpcClient<typeof ServerService>;
}

export function createServices(transport: Transport): Services {
  return {
    agents: createRpcClient(AgentService, transport),
    controls: createRpcClient(ControlService, transport),
    policies: createRpcClient(PolicyService, transport),
    templates: createRpcClient(TemplateService, transport),
    evaluators: createRpcClient(EvaluatorService, transport),
    observability: createRpcClient(ObservabilityService, transport),
    approvals: createRpcClient(ApprovalService, transport),
    audit: createRpcClient(AuditService, transport),
    server: createRpcClient(ServerService, transport),
  };
}
