import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { ErrorItem } from '../../contract/errors/service-error.js';
import { MAX_ERROR_ITEMS } from '../../contract/input/items.js';
import { inputItems } from '../../contract/input/parse-input.js';
import { createPauses } from '../../decide/decisions/in-turns.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createDocumentSchema, type ReadDocument } from './document-schema.js';

/** Documents that could be read, each with its place in the request, and what is wrong with the others. */
export interface ReadDocuments {
  readonly documents: readonly (ReadDocument & { readonly index: number })[];
  readonly problems: readonly ErrorItem[];
}

/** Reads documents of requests in turns of the event loop: thousands of them take seconds. Rejects once `signal` is aborted. */
export function createDocumentReader(
  registry: EvaluatorRegistry,
): (values: readonly JsonValue[], signal?: AbortSignal) => Promise<ReadDocuments> {
  const schema = createDocumentSchema(registry);
  return async (values, signal) => {
    const documents: ReadDocuments['documents'][number][] = [];
    const problems: ErrorItem[] = [];
    const pause = createPauses(signal);
    for (const [index, value] of values.entries()) {
      const { value: document, items } = inputItems(schema, value);
      if (document !== undefined) documents.push({ ...document, index });
      const at = `documents[${index}]`;
      for (const item of items) {
        problems.push({ ...item, field: item.field === undefined ? at : `${at}.${item.field}` });
      }
      if (problems.length >= MAX_ERROR_ITEMS) break;
      await pause();
    }
    return { documents, problems };
  };
}
