import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, isSameJson, ownMember } from '../code/json-members.js';
import type { ChoiceForm, Form, ListForm, ObjectForm } from './form.js';
import { formOf } from './form-of.js';

const MAX_DEPTH = 4;

/** The choice that a value belongs to; -1 if it fits none. */
export function choiceOf(root: JsonObject, { choices }: ChoiceForm, value: JsonValue): number {
  const forms = choices.map(({ schema }) => formOf(root, schema));
  const fitting = forms.findIndex((form) => accepts(root, form, value, 0));
  if (fitting !== -1) return fitting;
  return forms.findIndex((form) => isOfKind(form, value));
}

/** Whether a value has the shape of a form. Bounds and patterns do not count: they tell no choices apart. */
function accepts(root: JsonObject, form: Form, value: JsonValue, depth: number): boolean {
  if (value === null) return form.isNullable || form.kind === 'json';
  if (!isOfKind(form, value)) return false;
  if (depth > MAX_DEPTH) return true;
  if (form.kind === 'enum') return form.options.some((option) => isSameJson(option.value, value));
  if (form.kind === 'choice') {
    return form.choices.some(({ schema }) => accepts(root, formOf(root, schema), value, depth + 1));
  }
  if (form.kind === 'list' && Array.isArray(value)) {
    return value.every((item, index) =>
      accepts(root, formOf(root, itemSchema(form, index)), item, depth + 1),
    );
  }
  if (form.kind !== 'object' || !isJsonObject(value)) return true;
  if (!form.isOpen && Object.keys(value).some((name) => !form.members.some((one) => one.name === name))) {
    return false;
  }
  return form.members.every(({ name, schema, isRequired }) => {
    const member = ownMember(value, name);
    return member === undefined ? !isRequired : accepts(root, formOf(root, schema), member, depth + 1);
  });
}

function isOfKind(form: Form, value: JsonValue): boolean {
  switch (form.kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && (!form.isInteger || Number.isInteger(value));
    case 'boolean':
      return typeof value === 'boolean';
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    default:
      return true;
  }
}

/** Whether a form can show a value. Half a number is kept as text, so a text is shown by a form for numbers too. */
export function canShow(form: Form, value: JsonValue | undefined): boolean {
  if (value === undefined) return true;
  if (value === null) return form.isNullable || form.kind === 'json';
  if (form.kind === 'number') return typeof value === 'number' || typeof value === 'string';
  return isOfKind(form, value);
}

/** The schema of an item of a list. */
export function itemSchema({ first, item }: ListForm, index: number): JsonValue {
  return first[index] ?? item;
}

/** The schema of a member whose name the form does not list. */
export function otherSchema({ byPattern, other }: ObjectForm): JsonValue {
  // Patterns of schemas are not run here: a hostile one would stop the page.
  return byPattern.length > 0 ? true : other;
}

/** What a new item, member or choice starts with: nothing that the viewer would have to correct first. */
export function initialValue(root: JsonObject, form: Form): JsonValue {
  if (form.fallback !== undefined) return form.fallback;
  switch (form.kind) {
    case 'text':
    case 'number':
      return '';
    case 'boolean':
      return false;
    case 'enum':
      return form.options[0]?.value ?? null;
    case 'list':
      return [];
    case 'object':
      return initialObject(root, form);
    case 'choice':
      return form.choices[0] === undefined ? null : initialValue(root, formOf(root, form.choices[0].schema));
    case 'json':
      return null;
  }
}

/** Members that can only have one value are there from the start: they tell choices apart. */
function initialObject(root: JsonObject, form: ObjectForm): JsonObject {
  return Object.fromEntries(
    form.members.flatMap(({ name, schema, isRequired }) => {
      const member = formOf(root, schema);
      if (!isRequired || member.kind !== 'enum' || member.options.length !== 1) return [];
      return [[name, member.options[0]?.value ?? null] as const];
    }),
  );
}

/** The value for another choice: the old one as far as it can be kept. */
export function convertedTo(root: JsonObject, form: Form, value: JsonValue | undefined): JsonValue {
  if (value === undefined || value === null) return initialValue(root, form);
  if (accepts(root, form, value, 0)) return value;
  if (form.kind === 'text' && typeof value !== 'object') return String(value);
  if (form.kind === 'number' && typeof value === 'string') return numberFromText(value) ?? '';
  if (form.kind === 'list' && !Array.isArray(value)) {
    const item = formOf(root, itemSchema(form, 0));
    return accepts(root, item, value, 0) ? [value] : [];
  }
  return initialValue(root, form);
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** The number that a text is; the text itself if it is none yet, such as `-` or `1.`; undefined if it is empty. */
export function numberFromText(text: string): JsonValue | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const value = JSON_NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
  return Number.isFinite(value) ? value : text;
}
