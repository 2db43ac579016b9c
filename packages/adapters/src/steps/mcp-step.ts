import { jsonProblem } from '../../../../src/decide/decisions/evaluate-request.js';
import {
  folded,
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  parseJson,
} from '../../../exact-json/src/index.js';
import { refusedMember } from './members.js';
import { MCP_PARAMS_NAMES, refuseFolded } from './protocol-names.js';

/** The levels of an evaluation around data of a step. */
const LEVELS_AROUND = 4;

/** A request of MCP as a step, in the form that the MCP gateway gives it. */
export interface McpStep {
  readonly type: 'tool' | 'mcp_resource' | 'mcp_prompt';
  readonly name: string;
  readonly input: JsonObject;
}

/** Methods of MCP that are steps; all others let an agent do nothing. */
const METHODS = {
  'tools/call': 'tool',
  'resources/read': 'mcp_resource',
  'prompts/get': 'mcp_prompt',
} as const;

export type McpMethod = keyof typeof METHODS;

export function isStepMethod(method: unknown): method is McpMethod {
  return typeof method === 'string' && Object.hasOwn(METHODS, method);
}

/** The type of the steps of a method. */
export const mcpStepType = (method: McpMethod): McpStep['type'] => METHODS[method];

/** The name of all steps of a method; undefined if each one names its own. */
export const mcpStepName = (method: McpMethod): string | undefined =>
  method === 'resources/read' ? method : undefined;

/** The step of a request with these params. Throws a VALIDATION_ERROR if they are not those of the method. */
export function mcpStep(method: McpMethod, params: JsonValue | undefined): McpStep {
  if (!isObject(params)) throw refused('params', 'must be an object', params);
  refuseFolded(params, MCP_PARAMS_NAMES, 'params');
  const type = mcpStepType(method);
  const text = (member: 'name' | 'uri'): string => {
    const value = params[member];
    if (typeof value === 'string' && value !== '') return value;
    throw refused(`params.${member}`, 'must be a text', value);
  };
  if (method === 'resources/read') return { type, name: method, input: { uri: text('uri') } };
  const { arguments: given = null } = params;
  if (given !== null && !isObject(given)) throw refused('params.arguments', 'must be an object', given);
  return { type, name: text('name'), input: given ?? {} };
}

/** Whether some server takes a value for one of the methods: in any case, or with blanks around it. */
export const mayBeStepMethod = (method: unknown): boolean =>
  typeof method === 'string' && isStepMethod(folded(method.trim()));

/** Throws a VALIDATION_ERROR for a value that is none of the methods, though some server takes it for one. */
export function refuseAlikeMethod(method: JsonValue | undefined, field: string): void {
  if (isStepMethod(method) || !mayBeStepMethod(method)) return;
  throw refused(field, 'is no method of MCP as it is written, and servers may take it for one', method);
}

/** The params of a request with another input. Throws a VALIDATION_ERROR if its method has no params for it. */
export function mcpParams(method: McpMethod, params: JsonObject, input: JsonValue): JsonObject {
  if (!isObject(input)) throw refused('params', 'cannot be made of an input that is no object', input);
  return method === 'resources/read' ? { ...params, ...input } : { ...params, arguments: input };
}

/**
 * A JSON text as sent by a peer. Throws a VALIDATION_ERROR unless it is JSON without duplicate members, which a server could read
 * differently.
 */
export function peerJson(text: string, field: string): JsonValue {
  try {
    return parseJson(text, { duplicates: 'refuse', maxDepth: MAX_JSON_DEPTH - LEVELS_AROUND });
  } catch (error) {
    const problem = jsonProblem(error);
    if (problem === undefined) throw error;
    throw refusedMember(field, `is not JSON that can be checked: ${problem.message}`, problem.code);
  }
}

/** The error of a member that is not what its protocol says. */
export const refused = (field: string, message: string, value?: JsonValue): Error =>
  refusedMember(field, message, value === undefined || value === null ? 'missing' : undefined);
