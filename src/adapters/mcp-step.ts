import { isObject, type JsonObject, type JsonValue, parseJson } from '../../packages/exact-json/src/index.js';
import { invalidRequest } from '../contract/input/parse-input.js';
import { jsonProblem } from '../decisions/evaluate-request.js';

/** A request of MCP as a step. */
export interface McpStep {
  readonly type: 'tool' | 'resource' | 'prompt';
  readonly name: string;
  readonly input: JsonObject;
}

/** Methods of MCP that are steps; all others let an agent do nothing. */
const METHODS = {
  'tools/call': { type: 'tool', named: 'name' },
  'resources/read': { type: 'resource', named: 'uri' },
  'prompts/get': { type: 'prompt', named: 'name' },
} as const;

export type McpMethod = keyof typeof METHODS;

export function isStepMethod(method: unknown): method is McpMethod {
  return typeof method === 'string' && Object.hasOwn(METHODS, method);
}

/** The type of the steps of a method. */
export const mcpStepType = (method: McpMethod): McpStep['type'] => METHODS[method].type;

/** The step of a request with these params. Throws a VALIDATION_ERROR if they are not those of the method. */
export function mcpStep(method: McpMethod, params: JsonValue | undefined): McpStep {
  const { type, named } = METHODS[method];
  if (!isObject(params)) throw refused('params', 'must be an object', params);
  const name = params[named];
  if (typeof name !== 'string' || name === '') throw refused(`params.${named}`, 'must be a text', name);
  if (type === 'resource') return { type, name, input: { uri: name } };
  const { arguments: given = null } = params;
  if (given !== null && !isObject(given)) throw refused('params.arguments', 'must be an object', given);
  return { type, name, input: given ?? {} };
}

/** The params of a request with another input. Throws a VALIDATION_ERROR if its method has no params for it. */
export function mcpParams(method: McpMethod, params: JsonObject, input: JsonValue): JsonObject {
  if (!isObject(input)) throw refused('params', 'cannot be made of an input that is no object', input);
  return METHODS[method].type === 'resource' ? { ...params, ...input } : { ...params, arguments: input };
}

/**
 * A JSON text as sent by a peer. Throws a VALIDATION_ERROR unless it is JSON without duplicate members, which a server could read
 * differently.
 */
export function peerJson(text: string, field: string, maxDepth?: number): JsonValue {
  try {
    return parseJson(text, { duplicates: 'refuse', ...(maxDepth === undefined ? {} : { maxDepth }) });
  } catch (error) {
    const problem = jsonProblem(error);
    if (problem === undefined) throw error;
    throw refusedWith(field, problem.code, `is not JSON that can be checked: ${problem.message}`);
  }
}

/** The error of a member that is not what its protocol says. */
export function refused(field: string, message: string, value?: JsonValue): Error {
  return refusedWith(field, value === undefined || value === null ? 'missing' : 'value_error', message);
}

function refusedWith(field: string, code: string, message: string): Error {
  return invalidRequest([{ resource: 'Request', field, code, message }]);
}
