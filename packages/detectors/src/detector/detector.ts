import { z } from 'zod';
import { field, refuse, withDefault } from '../../../../src/contract/input/fields.js';
import { decodedTexts, encodedRuns } from '../../../../src/kernel/core/encoded-texts.js';
import type {
  CheckCall,
  CompiledEvaluator,
  Evaluator,
  ForegoneResult,
} from '../../../../src/kernel/core/evaluator.js';
import { ESCAPES_AND_INVISIBLE, searchOtherForms } from '../../../../src/kernel/core/other-forms.js';
import type { EvaluatorResult } from '../../../../src/kernel/core/types.js';
import { doubleOf, isNumber, type JsonObject } from '../../../exact-json/src/index.js';
import { visitTexts } from './data-texts-walk.js';
import { type Finding, findingsMetadata, MAX_LISTED_FINDINGS, type TextFinding } from './finding.js';

/**
 * Finds something in one text, in time linear in its length. Reports findings in any order, overlapping ones included, and
 * the work to `spend`, in search steps of some 13 ns. Throws when the text exceeds a limit: an error, which fails closed.
 * `place` names where the text is: the path of the selector, then the JSON Pointer of the text in the selected data.
 */
export type Detect = (
  text: string,
  found: (finding: TextFinding) => void,
  spend: (steps: number) => void,
  place: string,
) => void;

/** A configured detector. */
export interface CompiledDetector {
  readonly detect: Detect;
  /** Lowest score of a finding that makes the check match. */
  readonly threshold: number;
  /** Estimated memory, in bytes, besides what all configurations share. */
  readonly sizeBytes: number;
  /** Whether texts are of a language whose escapes mean something else than those of JSON: then their other forms are not searched. */
  readonly hasOwnEscapes?: boolean;
  /** Whether what texts encode in base64 or hexadecimal digits is searched as well. */
  readonly decodes?: boolean;
}

export interface DetectorOptions<Config> {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Its issues have the codes of `contract/input`; see `threshold`. */
  readonly configSchema: z.ZodType<Config>;
  readonly compile: (config: Config) => CompiledDetector;
  readonly warningsFor?: Evaluator['warningsFor'];
  readonly compileCost?: Evaluator['compileCost'];
}

/** Most findings of one check. */
const MAX_FINDINGS = 10_000;
/** Most findings of a text that those in its other forms are compared with, to tell what was found already. */
const MAX_COMPARED = 1_000;
/** Base64 in base64. */
const MAX_ENCODED_LEVELS = 2;
/** Code units of a text that are searched for encoded runs, or decoded, in the time of a search step. */
const UNITS_PER_STEP = 50;
const STEPS_PER_RUN = 50;
const NO_DATA: EvaluatorResult = {
  matched: false,
  confidence: 1,
  message: 'No data to search',
  metadata: null,
  error: null,
};
const NOTHING: EvaluatorResult = {
  matched: false,
  confidence: 1,
  message: 'Nothing found',
  metadata: null,
  error: null,
};

/** Whatever the configuration, nothing is found where nothing is selected. */
const ABSENT_IS_NO_MATCH: ForegoneResult = { data: null, absent: false };

/** The member `threshold` of a configuration. */
export function threshold(value: number): z.ZodType<number> {
  const read = field<number>(
    (given, sink) => {
      const number = isNumber(given) ? doubleOf(given) : Number.NaN;
      if (number > 0 && number <= 1) return number;
      return refuse(sink, 'value_error', 'must be a number above 0, and at most 1', given);
    },
    { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  );
  return withDefault(read, value).meta({
    description: `Lowest score of a finding that makes the check match, above 0 and at most 1. Default ${value}.`,
  });
}

/** An evaluator that searches all texts of the selected data, names of members included, and says where it found what. */
export function createDetector<Config>(options: DetectorOptions<Config>): Evaluator {
  const { name, version, description, configSchema, warningsFor, compileCost } = options;
  return {
    name,
    version,
    description,
    requiresApiKey: false,
    timeoutMs: 10_000,
    configSchema,
    configJsonSchema: z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject,
    ...(warningsFor === undefined ? {} : { warningsFor }),
    ...(compileCost === undefined ? {} : { compileCost }),
    foregone: () => ABSENT_IS_NO_MATCH,
    compile: (config) => compiledEvaluator(options.compile(configSchema.parse(config))),
  };
}

function compiledEvaluator(detector: CompiledDetector): CompiledEvaluator {
  return {
    sizeBytes: detector.sizeBytes,
    usual: NOTHING,
    evaluate(data, call) {
      if (data === null) return NO_DATA;
      const search = new Search(detector, call);
      if (typeof data === 'string') search.add(data, '', false);
      else visitTexts(data, (text, path, inName) => search.add(text, path, inName));
      return search.findings.length === 0 ? NOTHING : found(search.findings, detector.threshold, call);
    },
  };
}

type Span = Pick<TextFinding, 'start' | 'end'>;

/** The findings in the texts of one check, in their order, without those below the threshold. */
class Search {
  readonly findings: Finding[] = [];
  readonly #detector: CompiledDetector;
  readonly #spend: (steps: number) => void;
  readonly #selector: string;

  constructor(detector: CompiledDetector, call: CheckCall) {
    this.#detector = detector;
    this.#spend = (steps) => call.spend?.(steps);
    this.#selector = call.place.path;
  }

  /** Beyond the limit nothing more is searched: the check matches. */
  add(text: string, path: string, in_name: boolean): void {
    const { threshold, hasOwnEscapes } = this.#detector;
    const room = MAX_FINDINGS - this.findings.length;
    if (room <= 0) return;
    const own: Finding[] = [];
    const add = (finding: TextFinding): void => {
      if (finding.score >= threshold && own.length < room) own.push({ ...finding, path, in_name });
    };
    const place = `${this.#selector}${path}`;
    this.#searchForm(text, add, place);
    if (hasOwnEscapes !== true) this.#addOtherForms(text, own, add, place);
    own.sort((left, right) => left.start - right.start || right.end - left.end);
    for (const finding of own) this.findings.push(finding);
  }

  /** Searches a form of a text, with what it encodes. */
  #searchForm(form: string, found: (finding: TextFinding) => void, place: string): void {
    const { detect, threshold, decodes } = this.#detector;
    if (decodes !== true) {
      detect(form, found, this.#spend, place);
      return;
    }
    const known: Span[] = [];
    const add = (finding: TextFinding): void => {
      if (finding.score >= threshold && known.length < MAX_COMPARED) known.push(finding);
      found(finding);
    };
    detect(form, add, this.#spend, place);
    this.#searchEncoded(form, known, add, place, MAX_ENCODED_LEVELS);
  }

  /** The first finding in what a run encodes, at the place of the run, unless something is known there. */
  #searchEncoded(
    text: string,
    known: readonly Span[],
    found: (finding: TextFinding) => void,
    place: string,
    levels: number,
  ): void {
    const { detect, threshold } = this.#detector;
    this.#spend(text.length / UNITS_PER_STEP);
    for (const { run, start, end } of encodedRuns(text)) {
      this.#spend(STEPS_PER_RUN + run.length / UNITS_PER_STEP);
      if (known.some((one) => one.start < end && start < one.end)) continue;
      let first: TextFinding | null = null;
      const take = (finding: TextFinding): void => {
        if (finding.score >= threshold) first ??= { ...finding, start, end };
      };
      for (const decoded of decodedTexts(run)) {
        detect(decoded, take, this.#spend, place);
        if (levels > 1 && first === null) this.#searchEncoded(decoded, [], take, place, levels - 1);
      }
      if (first !== null) found(first);
    }
  }

  /** What is found in other forms, at its place in the text, without what was found there already. */
  #addOtherForms(
    text: string,
    own: readonly Finding[],
    add: (finding: TextFinding) => void,
    place: string,
  ): void {
    const known = own.slice(0, MAX_COMPARED);
    const isKnown = ({ kind, start, end }: TextFinding): boolean =>
      known.some((one) => one.kind === kind && one.start < end && start < one.end);
    const search = (form: string, found: (finding: TextFinding) => void) =>
      this.#searchForm(form, found, place);
    const addNew = (finding: TextFinding): void => {
      if (!isKnown(finding)) add(finding);
    };
    searchOtherForms(text, search, addNew, ESCAPES_AND_INVISIBLE);
  }
}

function found(findings: readonly Finding[], threshold: number, call: CheckCall): EvaluatorResult {
  const counts = new Map<string, number>();
  let confidence = 0;
  for (const { kind, score } of findings) {
    confidence = Math.max(confidence, score);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const kinds = [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} (${count})`));
  const listed = findings.slice(0, MAX_LISTED_FINDINGS);
  return {
    matched: true,
    confidence,
    message: `Found ${kinds.join(', ')}`,
    metadata: call.detail === 'full' ? findingsMetadata(listed, findings.length, threshold) : null,
    error: null,
  };
}
