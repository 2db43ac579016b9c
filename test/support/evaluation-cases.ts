import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Json } from './wire-shape.js';

type JsonObject = { [key: string]: Json };

/** What an evaluation of a case file must give. */
export interface CaseExpectation {
  readonly is_safe: boolean;
  readonly confidence: number;
  /** `any` for any non-empty text. */
  readonly reason: null | 'any';
  /** Names of controls, in the order of the list. */
  readonly matches: readonly string[];
  readonly errors: readonly string[];
  readonly non_matches: readonly string[];
  /** Members that the condition trace of a control has, by control name. */
  readonly trace?: Readonly<Record<string, JsonObject>>;
  /** Members that the metadata of a control have, by control name. */
  readonly metadata?: Readonly<Record<string, JsonObject>>;
}

/** Controls of one agent, and what they say about steps. */
export interface CaseFile {
  readonly file: string;
  readonly name: string;
  readonly controls: readonly { readonly name: string; readonly data: JsonObject }[];
  readonly evaluations: readonly {
    readonly step: JsonObject & {
      readonly type: string;
      readonly name: string;
      readonly input: Json;
      readonly context?: JsonObject | null;
    };
    readonly stage: 'pre' | 'post';
    readonly expect: CaseExpectation;
  }[];
}

/** The files of test/cases, in the order of their names. */
export function readCaseFiles(): CaseFile[] {
  const directory = new URL('../cases/', import.meta.url);
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      ...(JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as Omit<CaseFile, 'file'>),
      file,
    }));
}

interface CaseResult {
  readonly control_name: string;
  readonly result: { readonly metadata: { readonly condition_trace?: unknown } | null };
}

/** What a verdict is compared by. */
export interface CaseVerdict {
  readonly is_safe: boolean;
  readonly confidence: number;
  readonly reason: string | null;
  readonly matches: readonly CaseResult[];
  readonly errors: readonly CaseResult[];
  readonly non_matches: readonly CaseResult[];
}

/** Fails unless the verdict is as the case says; with `verdict` as its detail, unless the rest is left out. */
export function expectVerdict(
  verdict: CaseVerdict,
  expected: CaseExpectation,
  detail: 'full' | 'verdict',
): void {
  const names = (items: readonly CaseResult[]) => items.map(({ control_name }) => control_name);
  expect({
    is_safe: verdict.is_safe,
    confidence: verdict.confidence,
    reason: verdict.reason ? 'any' : verdict.reason,
    matches: names(verdict.matches),
    errors: names(verdict.errors),
    non_matches: names(verdict.non_matches),
  }).toEqual({
    is_safe: expected.is_safe,
    confidence: expected.confidence,
    reason: expected.reason,
    matches: expected.matches,
    errors: expected.errors,
    non_matches: detail === 'full' ? expected.non_matches : [],
  });
  const all = [...verdict.matches, ...verdict.errors, ...verdict.non_matches];
  if (detail === 'verdict') {
    expect(all.map(({ result }) => result.metadata)).toEqual(all.map(() => null));
    return;
  }
  const metadataOf = (name: string) => all.find((item) => item.control_name === name)?.result.metadata;
  for (const [name, members] of Object.entries(expected.metadata ?? {})) {
    expect(metadataOf(name)).toMatchObject(members);
  }
  for (const [name, members] of Object.entries(expected.trace ?? {})) {
    expect(metadataOf(name)?.condition_trace).toMatchObject(members);
  }
}
