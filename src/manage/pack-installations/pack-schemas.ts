import { z } from 'zod';
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
import { MAX_PACK_CONTROLS } from '../packs/limits.js';

/** Most days of recorded evaluations, and steps, of one preview. */
const MAX_DAYS = 30;
const DEFAULT_DAYS = 7;
const MAX_STEPS = 20;

/** Any text: a pack of another name is not found. */
const packName = text();
const keys = listOrNone(text({ min: 1, max: 64 }), { max: MAX_PACK_CONTROLS });
/** The letters of names of controls; keys follow. */
const prefix = text({ max: 64, pattern: /^(?:[a-zA-Z0-9][a-zA-Z0-9_-]*)?$/ });

const install = z
  .object({
    pack_name: packName,
    policy_id: nullable(rowId),
    policy_name: nullable(slugName()),
    keys,
    version: nullable(text({ max: 64 })),
    name_prefix: nullable(prefix),
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
      days: orElse(integer({ min: 1, max: MAX_DAYS }), DEFAULT_DAYS),
      steps: listOrNone(z.object({ step: stepSchema, stage: oneOf(STAGES) }), { max: MAX_STEPS }),
    }),
    { days: 7, steps: [{ step: EXAMPLE_EVALUATION.step, stage: EXAMPLE_EVALUATION.stage }] },
  ),
  installPack: withExample(install, { policy_name: 'sampled' }),
  listPackInstallations: z.object({ pack_name: nullable(text()), policy_id: nullable(rowId) }),
  comparePackInstallation: z.object({ installation_id: rowId }),
  updatePackInstallation: withExample(
    z.object({ installation_id: rowId, version: text({ min: 1, max: 64 }), overwrite: keys }),
    { version: '1.0.0' },
  ),
  uninstallPack: z.object({ installation_id: rowId, force: flag() }),
};

/** Outputs of these schemas. */
export type InstallInput = z.output<typeof packSchemas.installPack>;
export type PreviewInput = z.output<typeof packSchemas.previewPack>;
