import { z } from 'zod';
import { flag, listOrNone, nullable, oneOf, text, withExample } from '../../contract/input/fields.js';
import { integer } from '../../contract/input/numbers.js';
import { exampleData } from '../controls/control-data.js';
import { KINDS } from './configuration-object.js';
import { unreadDocument } from './document-schema.js';

/** Most documents of a request. */
export const MAX_DOCUMENTS = 10_000;
const MAX_NOTE_LENGTH = 500;
const MAX_OWNER_LENGTH = 128;
const OWNER = /^[A-Za-z0-9._:/-]+$/;

const owner = () => text({ min: 1, max: MAX_OWNER_LENGTH, pattern: OWNER });

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
  const documents = () => listOrNone(unreadDocument(), { max: MAX_DOCUMENTS });
  return {
    applyConfiguration: withExample(
      z.object({
        owner: owner(),
        documents: documents(),
        dry_run: flag(),
        prune: flag(),
        overwrite: listOrNone(text({ min: 1, max: 512 }), { max: MAX_DOCUMENTS }),
        revision: nullable(integer({ min: 0 })),
        note: nullable(text({ max: MAX_NOTE_LENGTH })),
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
