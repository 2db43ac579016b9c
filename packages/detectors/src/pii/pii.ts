import { z } from 'zod';
import { list, nullable, report, text } from '../../../../src/contract/input/fields.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import { type CompiledDetector, createDetector, type Detect, threshold } from '../detector/detector.js';
import type { TextFinding } from '../detector/finding.js';
import { knownWord } from '../detector/known-word.js';
import { createContextReader } from './context-words.js';
import { DEFAULT_PHONE_REGIONS, PHONE_REGIONS, phoneRegions } from './find-phone.js';
import { type Finders, findPii } from './find-pii.js';
import {
  EMAIL,
  IBAN,
  IP_ADDRESS,
  KIND_NAMES,
  MAC_ADDRESS,
  OTHER_KINDS,
  PHONE,
  SHAPED_KINDS,
} from './kinds/kinds.js';
import { PiiSearch, type SearchSettings } from './pii-search.js';
import { createShapeTrie } from './shape-trie.js';

const MAX_IGNORED = 1000;
const MAX_IGNORED_LENGTH = 320;
const MAX_REGIONS = 32;
/** Estimated memory of the tables of a configuration. */
const TABLE_BYTES = 200_000;
/** Units of a text that are read in the time of one search step. */
const UNITS_PER_STEP = 4;

/** Signs between digits of a number that are written in place of a blank; each is one unit, so that places stay the same. */
const OTHER_SEPARATOR = /(?<=\d)[_\t\n\r\u00a0\u2007\u2009\u202f\u2010-\u2015](?=\d)/g;

const ISSUING_REGIONS = SHAPED_KINDS.flatMap(({ region }) => region ?? []);
const REGIONS: readonly string[] = [...new Set([...ISSUING_REGIONS, ...PHONE_REGIONS])].sort();

const configSchema = z
  .object({
    entities: nullable(
      list(knownWord(KIND_NAMES, 'kind of personal data'), { min: 1, max: KIND_NAMES.length }),
    ).meta({
      description: 'Kinds that are searched for. Default: all of the regions.',
    }),
    regions: nullable(
      list(knownWord(REGIONS, 'region of ISO 3166-1 alpha-2'), { min: 1, max: MAX_REGIONS }),
    ).meta({
      description:
        'Regions (ISO 3166-1 alpha-2) whose numbers are searched for; kinds of no region always are. Default: all, and ' +
        `telephone numbers without country code of ${DEFAULT_PHONE_REGIONS.join(', ')}.`,
    }),
    threshold: threshold(0.5),
    ignore: nullable(list(text({ min: 1, max: MAX_IGNORED_LENGTH }), { max: MAX_IGNORED })).meta({
      description:
        'Texts that are nobody’s, exactly as they are written, such as the mail address of the company.',
    }),
  })
  .transform((config, sink) => {
    const { entities, regions } = config;
    if (entities === undefined || regions === undefined) return config;
    // A kind of a region that is not searched would never be found.
    for (const [at, name] of entities.entries()) {
      const region = SHAPED_KINDS.find((kind) => kind.name === name)?.region;
      if (region === undefined || regions.includes(region)) continue;
      const message = `is a kind of ${region}, which is not among the regions; add ${region} to regions, or leave it out`;
      report(sink, 'value_error', message, name, ['entities', at]);
    }
    return config;
  });

type PiiConfig = z.output<typeof configSchema>;

/** Finds personal data by their shapes, check digits and the words around them. */
export const piiEvaluator: Evaluator = createDetector<PiiConfig>({
  name: 'pii',
  version: '1.0.0',
  description:
    'Finds personal data: cards, bank accounts, national ids, mail addresses, telephone numbers, addresses.',
  configSchema,
  compile: compilePii,
});

function compilePii({ entities, regions, threshold, ignore = [] }: PiiConfig): CompiledDetector {
  const isWanted = (name: string): boolean => entities === undefined || entities.includes(name);
  const shaped = SHAPED_KINDS.filter(
    ({ name, region }) =>
      isWanted(name) && (region === undefined || regions === undefined || regions.includes(region)),
  );
  const finders: Finders = {
    shapes: createShapeTrie(shaped),
    email: isWanted(EMAIL.name),
    iban: isWanted(IBAN.name),
    ip: isWanted(IP_ADDRESS.name),
    mac: isWanted(MAC_ADDRESS.name),
    phone: isWanted(PHONE.name) ? phoneRegions(regions ?? DEFAULT_PHONE_REGIONS) : null,
  };
  const context = createContextReader([...shaped, ...OTHER_KINDS.filter(({ name }) => isWanted(name))]);
  const settings: SearchSettings = { context, ignored: new Set(ignore), threshold };
  const sizeBytes = TABLE_BYTES + ignore.reduce((sum, item) => sum + 2 * item.length + 64, 0);
  const search = (text: string, [, found, spend, place]: Parameters<Detect>): void => {
    const own = new PiiSearch(text, place, settings, found);
    findPii(own, finders);
    spend(text.length / UNITS_PER_STEP + own.steps);
  };
  const detect: Detect = (...call) => {
    const [text, found, ...rest] = call;
    const spaced = text.replace(OTHER_SEPARATOR, ' ');
    if (spaced === text) return search(text, call);
    const known = new Set<string>();
    const once = (finding: TextFinding): void => {
      const id = `${finding.kind} ${finding.start} ${finding.end}`;
      if (!known.has(id)) found(finding);
      known.add(id);
    };
    search(text, [text, once, ...rest]);
    search(spaced, [text, once, ...rest]);
  };
  return { threshold, sizeBytes, decodes: true, detect };
}

/** Finds all kinds of personal data of all regions from this score on. */
export function piiDetector(threshold: number): CompiledDetector {
  return compilePii(configSchema.parse({ threshold }));
}
