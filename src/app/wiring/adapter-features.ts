import { ExtMcp } from '../../../gen/proto/agentgateway/dev/ext_mcp/ext_mcp_pb.js';
import { AdapterService } from '../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import { AuthzenService } from '../../../gen/proto/enforcement/v1/authzen_service_pb.js';
import { Authorization } from '../../../gen/proto/envoy/service/auth/v3/external_auth_pb.js';
import type { EvaluationService } from '../../decide/decisions/evaluation-service.js';
import { createAdapterEvaluations } from '../../serve/adapters/adapter-evaluations.js';
import { createAgentHooks } from '../../serve/adapters/agent-hooks/agent-hooks.js';
import { createAgentgateway } from '../../serve/adapters/agentgateway/agentgateway.js';
import { createAuthzen } from '../../serve/adapters/authzen/authzen.js';
import { createCodingHooks } from '../../serve/adapters/coding-hooks/coding-hooks.js';
import { createCopilotStudio } from '../../serve/adapters/copilot-studio/copilot-studio.js';
import { createExtAuthz } from '../../serve/adapters/ext-authz/ext-authz.js';
import { createExtMcp } from '../../serve/adapters/ext-mcp/ext-mcp.js';
import { createLitellm } from '../../serve/adapters/litellm/litellm.js';
import { type Feature, feature } from './feature.js';
import type { Foundations } from './foundations.js';

/** The protocols of others over the evaluation. Rejects if their file of mappings cannot be read. */
export async function createAdapterFeatures(
  { config, metrics, failures }: Foundations,
  evaluation: EvaluationService,
): Promise<Feature[]> {
  const { on, file, failOpen } = config.adapters;
  const evaluations = createAdapterEvaluations({
    evaluation,
    on,
    failOpen,
    // The parser of files is loaded only if there is one.
    mappings:
      file === null
        ? new Map()
        : await import('../../serve/adapters/mapping-file.js').then(({ readMappingFile }) =>
            readMappingFile(file),
          ),
    meter: metrics.adapters,
    failures,
  });
  return [
    feature(AuthzenService, createAuthzen({ evaluations, publicUrl: config.publicUrl })),
    feature(Authorization, createExtAuthz(evaluations)),
    feature(ExtMcp, createExtMcp(evaluations)),
    feature(AdapterService, {
      ...createCodingHooks(evaluations),
      ...createLitellm(evaluations),
      ...createCopilotStudio(evaluations),
      ...createAgentgateway(evaluations),
      ...createAgentHooks(evaluations),
    }),
  ];
}
