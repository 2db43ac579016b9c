import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  flag,
  listOrNone,
  nullable,
  oneOf,
  orElse,
  report,
  text,
  withExample,
} from '../../contract/input/fields.js';
import { agentName, slugName } from '../../contract/input/names.js';
import { integer, rowId } from '../../contract/input/numbers.js';
import { EXAMPLE_EVALUATION, stepSchema } from '../../decide/decisions/evaluate-request.js';
import { STAGES } from '../../kernel/core/types.js';
import { idempotencyKey } from '../../storage/database/idempotency.js';

const PREVIEW = LIMITS.PreviewPackRequest;
const INSTALL = LIMITS.InstallPackRequest;
const DEFAULT_DAYS = 7;

/** Any text: a pack of another name is not found. */
const packName = text();
const keys = listOrNone(text(INSTALL.keys.items), INSTALL.keys);

const install = z
  .object({
    pack_name: packName,
    policy_id: nullable(rowId),
    policy_name: nullable(slugName()),
    keys,
    version: nullable(text(INSTALL.version)),
    name_prefix: nullable(text(INSTALL.name_prefix)),
    idempotency_key: nullable(idempotencyKey()),
  })
  .superRefine(({ policy_id, policy_name }, sink) => {
    if (policy_id === undefined && policy_name === undefined) {
      report(sink, 'missing', 'Field required: policy_id or policy_name', undefined, ['policy_id']);
    } else if (policy_id !== undefined && policy_name !== undefined) {
      report(sink, 'value_error', 'must not stand beside policy_id', policy_name, ['policy_name']);
    }
  });

/** Input schemas of PackService, by RPC. Members are in the order of the messages. */
export const packSchemas = {
  listPacks: z.object({}),
  getPack: z.object({ pack_name: packName }),
  previewPack: withExample(
    z.object({
      pack_name: packName,
      agent_name: nullable(agentName()),
      days: orElse(integer(PREVIEW.days), DEFAULT_DAYS),
      steps: listOrNone(z.object({ step: stepSchema, stage: oneOf(STAGES) }), PREVIEW.steps),
    }),
    { days: 7, steps: [{ step: EXAMPLE_EVALUATION.step, stage: EXAMPLE_EVALUATION.stage }] },
  ),
  installPack: withExample(install, { policy_name: 'sampled' }),
  listPackInstallations: z.object({ pack_name: nullable(text()), policy_id: nullable(rowId) }),
  comparePackInstallation: z.object({ installation_id: rowId }),
  updatePackInstallation: withExample(
    z.object({
      installation_id: rowId,
      version: text(LIMITS.UpdatePackInstallationRequest.version),
      overwrite: keys,
    }),
    { version: '1.0.0' },
  ),
  uninstallPack: z.object({ installation_id: rowId, force: flag() }),
};

/** Outputs of these schemas. */
export type InstallInput = z.output<typeof packSchemas.installPack>;
export type PreviewInput = z.output<typeof packSchemas.previewPack>;
