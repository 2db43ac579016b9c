import type { JsonValue } from '../../../packages/exact-json/src/index.js';

/** A definition with placeholders, as stored: without nulls and unknown members. */
export type ControlTemplate = {
  description?: string;
  /** By name. Only own members count: any identifier may be a name, `__proto__` included. */
  parameters: { [name: string]: TemplateParameter };
  /** The definition; an object `{"$param": "NAME"}` in it stands for the value of that parameter. */
  definition_template: JsonValue;
};

/** Members common to all parameters. */
type ParameterFacts = {
  /** Display name. */
  label: string;
  description?: string;
  required: boolean;
  ui_hint?: string;
};

/** A placeholder of a template. Members are in printing order. */
export type TemplateParameter = ParameterFacts &
  (
    | { type: 'string'; default?: string; placeholder?: string }
    | { type: 'string_list'; default?: string[]; placeholder?: string[] }
    | { type: 'enum'; allowed_values: string[]; default?: string }
    | { type: 'boolean'; default?: boolean }
    | { type: 'regex_re2'; default?: string; placeholder?: string }
  );

/** A value of a parameter. */
export type TemplateValue = string | boolean | string[];

/** Values by parameter name. Only own members count. */
export type TemplateValues = { [name: string]: TemplateValue };

/** Client input in place of a literal definition. */
export type TemplateInput = { template: ControlTemplate; template_values: TemplateValues };

/** Most values of a definition template, containers and the root included. */
export const MAX_TEMPLATE_VALUES = 1_000;

/** Most objects above a value of a definition template. Lists do not count. */
export const MAX_ENCLOSING_OBJECTS = 11;

/** Most parameters: MAX_TEMPLATE_VALUES values cannot use more, and an unused one is rejected. */
export const MAX_TEMPLATE_PARAMETERS = 500;

/** Longest name of a parameter, as for other names. */
export const MAX_PARAMETER_NAME_LENGTH = 255;

/**
 * Total size limit of bound values, in characters and list items: about the largest request body. Without it
 * a small template could bind a long value hundreds of times.
 */
export const MAX_BOUND_SIZE = 8 * 1024 * 1024;
