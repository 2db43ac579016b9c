import type { PackService as PackServiceDesc } from '../../../gen/proto/enforcement/v1/pack_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import type { PackCatalogue } from '../packs/catalogue.js';
import { createPackInstall } from './pack-install.js';
import { packSchemas as schemas } from './pack-schemas.js';
import { createPackService } from './pack-service.js';
import { createPackUpdate } from './pack-update.js';

export interface PacksOptions {
  readonly catalogue: PackCatalogue;
  readonly database: Pick<Database, 'client'>;
  readonly mutate: Mutator;
  readonly registry: EvaluatorRegistry;
  /** Whether warnings about definitions are always rejected. */
  readonly strict: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Packs of controls, and their installations. */
export function createPacks(options: PacksOptions): Omit<HandlersOf<typeof PackServiceDesc>, 'previewPack'> {
  const { catalogue, database, registry } = options;
  const parts = { catalogue, client: database.client, registry };
  const packs = createPackService(parts);
  const changes = {
    ...createPackInstall(options),
    ...createPackUpdate(options),
  };
  return {
    listPacks: handler(schemas.listPacks, (_, context) => packs.list(context)),
    getPack: handler(schemas.getPack, (input, context) => packs.get(context, input.pack_name)),
    installPack: handler(schemas.installPack, (input, context) => changes.install(context, input)),
    listPackInstallations: handler(schemas.listPackInstallations, (input, context) =>
      packs.listInstallations(context, { pack: input.pack_name || null, policyId: input.policy_id ?? null }),
    ),
    comparePackInstallation: handler(schemas.comparePackInstallation, (input, context) =>
      packs.compare(context, input.installation_id),
    ),
    updatePackInstallation: handler(schemas.updatePackInstallation, (input, context) =>
      changes.update(context, input.installation_id, input.version, input.overwrite),
    ),
    uninstallPack: handler(schemas.uninstallPack, (input, context) =>
      changes.uninstall(context, input.installation_id, input.force),
    ),
  };
}
