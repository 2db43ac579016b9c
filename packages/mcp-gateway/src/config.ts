import type { z } from 'zod';
import { readDocuments } from '../../documents/src/index.js';
import { type GatewayConfig, gatewayConfig } from './config-schema.js';
import { unknownMember } from './suggestion.js';

/** Why a file of settings is refused: `file:line:column: member: what is wrong`. */
export class GatewayConfigError extends Error {
  override readonly name = 'GatewayConfigError';
}

export type { CheckedStages, GatewayConfig, UpstreamConfig } from './config-schema.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings of a text in YAML or JSON. `${NAME}` in headers and env of upstreams stands for a variable of the environment.
 * Throws a GatewayConfigError that names file, place and member.
 */
export function readGatewayConfig(text: string, file: string, environment: Environment): GatewayConfig {
  const { documents, problems } = readDocuments(text);
  const [problem] = problems;
  if (problem !== undefined)
    throw new GatewayConfigError(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
  const [document, second] = documents;
  if (document === undefined || second !== undefined)
    throw new GatewayConfigError(`${file}: must have exactly one document with the settings of the gateway`);
  const read = gatewayConfig.safeParse(document.value);
  if (!read.success) {
    const lines = read.error.issues
      .flatMap(ofBranch)
      .slice(0, 20)
      .map((issue) => {
        const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
        const { line, column } = document.placeOf(path);
        const what =
          issue.code === 'unrecognized_keys'
            ? unknownMember(gatewayConfig, issue.path, issue.keys[0] ?? '')
            : issue.message;
        return `${file}:${line}:${column}: ${path.length === 0 ? '' : `${path.join('.')}: `}${what}`;
      });
    throw new GatewayConfigError(lines.join('\n'));
  }
  const expand = (values: Record<string, string>, of: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_whole, variable: string) => {
          const given = environment[variable];
          if (given !== undefined) return given;
          throw new GatewayConfigError(`${file}: ${of}.${name}: the variable ${variable} is not set`);
        }),
      ]),
    );
  return {
    ...read.data,
    upstreams: read.data.upstreams.map((one, index) => ({
      ...one,
      headers: expand(one.headers, `upstreams.${index}.headers`),
      env: expand(one.env, `upstreams.${index}.env`),
    })),
  };
}

type Issue = z.core.$ZodIssue;

/** What is wrong with a value of several forms: as the form with members has it, if the value has members. */
function ofBranch(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const found = issue.errors.find((errors) =>
    errors.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  return found === undefined
    ? [issue]
    : found.map((one): Issue => ({ ...one, path: [...issue.path, ...one.path] }));
}
