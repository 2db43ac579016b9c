import type { DescService } from '@bufbuild/protobuf';
import { ExtMcp } from '../../../gen/proto/agentgateway/dev/ext_mcp/ext_mcp_pb.js';
import { AdapterService } from '../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import { AuthzenService } from '../../../gen/proto/enforcement/v1/authzen_service_pb.js';
import { Authorization } from '../../../gen/proto/envoy/service/auth/v3/external_auth_pb.js';
import type { Handler } from '../../../src/contract/call/handler.js';
import { createAgentHooks } from './agent-hooks/agent-hooks.js';
import { createAgentgateway } from './agentgateway/agentgateway.js';
import { type AuthzenOptions, createAuthzen } from './authzen/authzen.js';
import { createCodingHooks } from './coding-hooks/coding-hooks.js';
import { createCopilotStudio } from './copilot-studio/copilot-studio.js';
import { createExtAuthz } from './ext-authz/ext-authz.js';
import { createExtMcp } from './ext-mcp/ext-mcp.js';
import { createLitellm } from './litellm/litellm.js';
import { type AdapterEvaluationsOptions, createAdapterEvaluations } from './steps/adapter-evaluations.js';

export interface AdaptersOptions
  extends Omit<AdapterEvaluationsOptions, 'mappings'>,
    Pick<AuthzenOptions, 'publicUrl'> {
  /** The path of the file of mappings; null for the defaults. */
  readonly file: string | null;
}

/** A service with its handlers, by local method name. */
export type AdapterHandlers = readonly [DescService, Readonly<Record<string, Handler>>];

/** The protocols of others over the evaluation. Rejects if their file of mappings cannot be read. */
export async function createAdapters(options: AdaptersOptions): Promise<AdapterHandlers[]> {
  const { file, publicUrl } = options;
  const evaluations = createAdapterEvaluations({
    ...options,
    // The parser of files is loaded only if there is one.
    mappings:
      file === null
        ? new Map()
        : await import('./steps/mapping-file.js').then(({ readMappingFile }) => readMappingFile(file)),
  });
  return [
    [AuthzenService, createAuthzen({ evaluations, publicUrl })],
    [Authorization, createExtAuthz(evaluations)],
    [ExtMcp, createExtMcp(evaluations)],
    [
      AdapterService,
      {
        ...createCodingHooks(evaluations),
        ...createLitellm(evaluations),
        ...createCopilotStudio(evaluations),
        ...createAgentgateway(evaluations),
        ...createAgentHooks(evaluations),
      },
    ],
  ];
}
