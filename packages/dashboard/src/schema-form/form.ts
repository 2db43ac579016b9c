import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** What all forms have in common. */
export interface FormFacts {
  readonly title?: string;
  readonly description?: string;
  /** The value that counts if there is none. */
  readonly fallback?: JsonValue;
  readonly example?: JsonValue;
  /** Whether null is a value, beside those of the form. */
  readonly isNullable: boolean;
}

export interface TextForm extends FormFacts {
  readonly kind: 'text';
  readonly isMultiline: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface NumberForm extends FormFacts {
  readonly kind: 'number';
  readonly isInteger: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

export interface BooleanForm extends FormFacts {
  readonly kind: 'boolean';
}

export interface EnumForm extends FormFacts {
  readonly kind: 'enum';
  readonly options: readonly { readonly value: JsonValue; readonly text: string }[];
}

export interface ListForm extends FormFacts {
  readonly kind: 'list';
  /** Schemas of the first items. */
  readonly first: readonly JsonValue[];
  /** Schema of the other items. */
  readonly item: JsonValue;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface ObjectForm extends FormFacts {
  readonly kind: 'object';
  readonly members: readonly MemberForm[];
  /** Pairs of a pattern of names and the schema of these members. */
  readonly byPattern: readonly (readonly [string, JsonValue])[];
  /** Schema of members with any other name; true for any value. */
  readonly other: JsonValue;
  /** Whether the form offers to add members with other names. */
  readonly isOpen: boolean;
}

export interface MemberForm {
  readonly name: string;
  readonly schema: JsonValue;
  readonly isRequired: boolean;
}

export interface ChoiceForm extends FormFacts {
  readonly kind: 'choice';
  readonly choices: readonly { readonly label: string; readonly schema: JsonObject }[];
}

/** What no other form can express: any JSON, as text. */
export interface JsonForm extends FormFacts {
  readonly kind: 'json';
}

/** The form of a value, as its schema describes it. */
export type Form =
  | TextForm
  | NumberForm
  | BooleanForm
  | EnumForm
  | ListForm
  | ObjectForm
  | ChoiceForm
  | JsonForm;
