import {
  isNumber,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { isStorable } from '../../storage/database/text.js';
import { compareTexts } from './steps-catalogue.js';

/** Labels of an agent, by name. */
export type Labels = ReadonlyMap<string, string>;

/** A label that an agent must have; null for any value. */
export interface WantedLabel {
  readonly name: string;
  readonly value: string | null;
}

/** A label that an agent must have, with its value. */
export interface DemandedLabel extends WantedLabel {
  readonly value: string;
}

const MAX_NAME_LENGTH = 63;
const MAX_VALUE_LENGTH = 255;
/** Labels of one agent. */
const MAX_LABELS = 32;

/**
 * The labels in the metadata of an agent: its members that are texts, numbers or booleans, as texts. Members that are too
 * long, and those beyond the limit by name, are no labels: metadata may be anything.
 */
export function labelsOf(metadata: JsonObject | null | undefined): Labels {
  const found: [name: string, value: string][] = [];
  for (const [name, member] of Object.entries(metadata ?? {})) {
    const value = labelValue(member);
    if (value !== undefined && isLabelName(name) && isLabelValue(value)) found.push([name, value]);
  }
  found.sort(([a], [b]) => compareTexts(a, b));
  return new Map(found.slice(0, MAX_LABELS));
}

function labelValue(member: JsonValue | undefined): string | undefined {
  if (typeof member === 'string') return member;
  return isNumber(member) || typeof member === 'boolean' ? stringifyJson(member) : undefined;
}

/** Without "=", which separates it from the value where a text has both. */
function isLabelName(name: string): boolean {
  return name.length >= 1 && name.length <= MAX_NAME_LENGTH && !name.includes('=') && isStorable(name);
}

function isLabelValue(value: string): boolean {
  return value.length >= 1 && value.length <= MAX_VALUE_LENGTH && isStorable(value);
}

/** Reads NAME=VALUE, or NAME for any value. What is wrong with the text if it can be no label. */
export function readLabel(text: string): WantedLabel | string {
  const separator = text.indexOf('=');
  const name = separator === -1 ? text : text.slice(0, separator);
  const value = separator === -1 ? null : text.slice(separator + 1);
  // Without "=", which ends the name: only its length can be wrong, or a character that is stored nowhere.
  if (!isLabelName(name)) return `the name of a label has 1 to ${MAX_NAME_LENGTH} characters`;
  if (value !== null && !isLabelValue(value)) {
    return `the value of a label has 1 to ${MAX_VALUE_LENGTH} characters`;
  }
  return { name, value };
}

/** The label of such a text. */
export function demandedLabelOf(text: string): DemandedLabel {
  const separator = text.indexOf('=');
  return { name: text.slice(0, separator), value: text.slice(separator + 1) };
}

/** The text of a label: NAME=VALUE. */
export function labelText({ name, value }: DemandedLabel): string {
  return `${name}=${value}`;
}
