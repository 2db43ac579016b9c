import { readFileSync } from 'node:fs';
import {
  ADAPTER_NAMES,
  type AdapterName,
  isAdapterName,
} from '../../../../src/contract/config/adapter-names.js';
import { ConfigError } from '../../../../src/contract/config/config.js';
import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';
import { readDocuments } from '../../../documents/src/index.js';
import { isObject, type JsonValue } from '../../../exact-json/src/index.js';
import { DEFAULT_MAPPING, MAPPED, type Mapped, type Mapping, readSource, type Source } from './mapping.js';

/** Most sources of one value. */
const MAX_SOURCES = 16;

/** The mappings of adapters that a file changes. */
export type Mappings = ReadonlyMap<AdapterName, Mapping>;

/**
 * Reads the file of SERVICE_ADAPTERS_FILE. A value that it does not name keeps its default. Throws a ConfigError that names
 * the file, the line and the member.
 */
export function readMappingFile(path: string): Mappings {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`SERVICE_ADAPTERS_FILE: ${path} cannot be read: ${(error as Error).message}`]);
  }
  return readMappings(text, path);
}

/** The same for the text of the file; `name` is what messages call it. */
export function readMappings(text: string, name: string): Mappings {
  const { documents, problems } = readDocuments(text);
  const fail = (message: string, line: number): never => {
    throw new ConfigError([`SERVICE_ADAPTERS_FILE: ${name}, line ${line}: ${message}`]);
  };
  const [problem] = problems;
  if (problem !== undefined) return fail(problem.message, problem.line);
  const [document, second] = documents;
  if (second !== undefined) return fail('the file must have one document', second.placeOf([]).line);
  const mappings = new Map<AdapterName, Mapping>();
  if (document === undefined) return mappings;
  const tell = (path: readonly string[], message: string): never =>
    fail(`${path.length === 0 ? '' : `${path.join('.')}: `}${message}`, document.placeOf(path).line);
  if (!isObject(document.value)) return tell([], 'must be an object with a member for each adapter');
  for (const [adapter, values] of Object.entries(document.value)) {
    if (!isAdapterName(adapter)) {
      return tell(
        [adapter],
        `is no adapter; ${ADAPTER_NAMES.join(', ')} are${didYouMean(adapter, ADAPTER_NAMES)}`,
      );
    }
    if (!isObject(values)) return tell([adapter], 'must be an object, such as agent: [header x-agent-name]');
    const changed: { [Member in Mapped]?: readonly Source[] } = {};
    for (const [member, written] of Object.entries(values)) {
      const value = MAPPED.find((one) => one === member);
      if (value === undefined) {
        return tell([adapter, member], `is not known; ${MAPPED.join(', ')} are${didYouMean(member, MAPPED)}`);
      }
      changed[value] = sourcesOf(written, (message) => tell([adapter, member], message));
    }
    mappings.set(adapter, { ...DEFAULT_MAPPING, ...changed });
  }
  return mappings;
}

function sourcesOf(written: JsonValue, refuse: (message: string) => never): Source[] {
  const list = Array.isArray(written) ? written : [written];
  if (list.length > MAX_SOURCES) return refuse(`must have at most ${MAX_SOURCES} sources`);
  return list.map((one) => {
    if (typeof one !== 'string') return refuse('must be texts, such as [header x-agent-name, key]');
    const source = readSource(one);
    return typeof source === 'string' ? refuse(source) : source;
  });
}
