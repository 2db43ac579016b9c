import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { flag, listOrNone, nullable, oneOf, text, withExample } from '../../contract/input/fields.js';
import { integer } from '../../contract/input/numbers.js';
import { exampleData } from '../controls/control-data.js';
import { KINDS } from './configuration-object.js';
import { unreadDocument } from './document-schema.js';

const APPLY = LIMITS.ApplyConfigurationRequest;

const owner = () => text(APPLY.owner);

const EXAMPLE = {
  owner: 'payments/main',
  documents: [
    { kind: 'Control', name: 'no-ibans', data: exampleData('\\b[A-Z]{2}\\d{2}[A-Z0-9]{11,30}\\b') },
    { kind: 'Policy', name: 'bank-accounts', controls: ['no-ibans'] },
  ],
};

/** Input schemas of ConfigurationService, by RPC. Members are in the order of the messages. */
export function createConfigurationSchemas() {
  // Read later, in turns of the event loop.
  const documents = () => listOrNone(unreadDocument(), APPLY.documents);
  return {
    applyConfiguration: withExample(
      z.object({
        owner: owner(),
        documents: documents(),
        dry_run: flag(),
        prune: flag(),
        overwrite: listOrNone(text(APPLY.overwrite.items), APPLY.overwrite),
        revision: nullable(integer(APPLY.revision)),
        note: nullable(text(APPLY.note)),
        strict: flag(),
        merge: flag(),
      }),
      EXAMPLE,
    ),
    exportConfiguration: withExample(
      z.object({
        owner: nullable(owner()),
        kinds: listOrNone(oneOf(KINDS), { max: KINDS.length }),
      }),
      { kinds: ['Control', 'Policy'] },
    ),
    lintConfiguration: withExample(z.object({ documents: documents(), each_alone: flag() }), {
      documents: EXAMPLE.documents,
    }),
  };
}

type Schemas = ReturnType<typeof createConfigurationSchemas>;

/** Outputs of these schemas. */
export type ApplyInput = z.output<Schemas['applyConfiguration']>;
export type ExportInput = z.output<Schemas['exportConfiguration']>;
