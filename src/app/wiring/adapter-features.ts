import type { DescService } from '@bufbuild/protobuf';
import { z } from 'zod';
import { ExtMcp } from '../../../gen/proto/agentgateway/dev/ext_mcp/ext_mcp_pb.js';
import { AdapterService } from '../../../gen/proto/enforcement/v1/adapter_service_pb.js';
import { AuthzenService } from '../../../gen/proto/enforcement/v1/authzen_service_pb.js';
import { Authorization } from '../../../gen/proto/envoy/service/auth/v3/external_auth_pb.js';
import { handler } from '../../contract/call/handler.js';
import { demandPackage } from '../../contract/config/demanded-package.js';
import { callerError } from '../../contract/errors/service-error.js';
import { loadOptionalPackage } from '../../contract/runtime/optional-package.js';
import type { EvaluationService } from '../../decide/decisions/evaluation-service.js';
import { type Feature, feature } from './feature.js';
import type { Foundations } from './foundations.js';

/**
 * The protocols of others over the evaluation. Rejects if their file of mappings cannot be read, and if an adapter is on and the
 * package is not installed: some peers take an error for leave to go on.
 */
export async function createAdapterFeatures(
  { config, log, metrics, failures, packages }: Foundations,
  evaluation: EvaluationService,
): Promise<Feature[]> {
  const { adapters, publicUrl } = config;
  const load = packages.adapters;
  const found =
    adapters.on.length > 0
      ? await demandPackage('SERVICE_ADAPTERS', { name: 'adapters', load })
      : await loadOptionalPackage({ name: 'adapters', without: 'calls to adapters are refused', load }, log);
  if (found === null) return [AuthzenService, Authorization, ExtMcp, AdapterService].map(refusing);
  const created = await found.createAdapters({
    ...adapters,
    evaluation,
    publicUrl,
    meter: metrics.adapters,
    failures,
  });
  return created.map(([service, handlers]) => feature(service, handlers));
}

/** A service whose calls are refused as those to an adapter that is off. */
function refusing(service: DescService): Feature {
  const refuse = () => {
    throw callerError('ADAPTER_OFF', {
      detail: 'The package adapters is not installed.',
      hint: 'Install it beside the service, or send the call to a service that has it.',
    });
  };
  const handlers = service.methods.map(({ localName, input }) => {
    const members = input.fields.map(({ name }) => [name, z.unknown().optional()]);
    return [localName, handler(z.object(Object.fromEntries(members)), refuse)];
  });
  return feature(service, Object.fromEntries(handlers));
}
