import { PARSE_OPTIONS } from '../../../../src/contract/input/messages.js';
import { normaliseAgentName } from '../../../../src/contract/input/names.js';
import { stepSchema } from '../../../../src/decide/decisions/evaluate-request.js';
import { OUTCOME_WORDS } from '../../../../src/decide/decisions/evaluation-options.js';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../../exact-json/src/index.js';
import type { CommandContext } from '../context.js';
import { CliError, messageOf } from '../errors.js';
import { documentsOf } from '../files/documents-of.js';
import { FilesError } from '../files/problems.js';
import { readFiles } from '../files/read-documents.js';
import { readText } from '../files/read-text.js';
import { readControls } from '../offline/documents.js';
import { createOfflineJudge } from '../offline/offline-judge.js';
import { issueProblems } from '../offline/placed-problems.js';
import type { Judge, Question } from './judge.js';
import { createServerJudge } from './server-judge.js';
import type { StepArgs } from './step-options.js';

/** Who is asked, and what. Rejects with a `CliError` that names what is wrong with the options or the files. */
export async function askedStep(
  context: CommandContext,
  args: StepArgs,
  registry: EvaluatorRegistry,
): Promise<{ readonly judge: Judge; readonly question: Question }> {
  const { controls, session = null, stepId = null, stage } = args;
  const agent = agentOf(args.agent);
  if (controls === undefined && agent === null) {
    throw new CliError(
      'neither controls nor an agent is given',
      'Give --controls FILE, or --agent NAME of a server.',
    );
  }
  const question: Question = {
    agent: agent === null ? null : { name: agent, metadata: {} },
    target: null,
    step: await stepOf(context, args),
    stage,
    sessionId: session,
    stepId,
    error: null,
    approval: null,
    accepts: OUTCOME_WORDS,
    nowMs: timeOf(args.now),
    history: [],
  };
  if (controls !== undefined) {
    const read = readControls(await readFiles(context, controls), registry);
    if (read.problems.length > 0) throw new FilesError(read.problems);
    return { judge: createOfflineJudge(read, registry), question };
  }
  const { rest } = await context.connect();
  return { judge: createServerJudge(rest.send, null, registry), question };
}

function agentOf(given: string | undefined): string | null {
  if (given === undefined) return null;
  const name = normaliseAgentName(given);
  if (name === undefined) {
    throw new CliError(
      `--agent: ${given} is no name of an agent`,
      'It has 10 to 255 letters, digits, ":", "_" and "-".',
    );
  }
  return name;
}

function timeOf(given: string | undefined): number | null {
  if (given === undefined) return null;
  const ms = /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(ms)) throw new CliError('--now: must be a time with a zone, such as 2026-12-31T12:00:00Z');
  return ms;
}

async function stepOf(
  context: CommandContext,
  { step, type, name, input, result }: StepArgs,
): Promise<Question['step']> {
  const flags: JsonObject = {
    ...(type === undefined ? {} : { type }),
    ...(name === undefined ? {} : { name }),
    ...(input === undefined ? {} : { input: givenValue(input) }),
    ...(result === undefined ? {} : { output: givenValue(result) }),
  };
  if (step === undefined && name === undefined) {
    throw new CliError('no step is given', 'Give --step FILE, or --name NAME and --input JSON.');
  }
  const [source] = step === undefined ? [] : await documentOf(context, step);
  const members = { ...source?.value, ...flags };
  const kind = members.type ?? 'tool';
  const read = stepSchema.safeParse(
    { input: kind === 'tool' ? {} : null, ...members, type: kind },
    PARSE_OPTIONS,
  );
  if (read.success) return read.data;
  const { issues } = read.error;
  if (source !== undefined) throw new FilesError(issueProblems(source, issues));
  throw new CliError(issues.map(({ path, message }) => `the step: ${path.join('.')}: ${message}`).join('\n'));
}

async function documentOf(context: CommandContext, name: string) {
  const { file, text } = await readText(context, name);
  return documentsOf(file, text);
}

/** JSON where the text is JSON of an object, a list or a quoted text; otherwise the text itself. */
function givenValue(text: string): JsonValue {
  if (!/^\s*[{["]/.test(text)) return text;
  try {
    const value = parseJson(text);
    return isObject(value) || Array.isArray(value) || typeof value === 'string' ? value : text;
  } catch (error) {
    throw new CliError(`the step: the value is no JSON: ${messageOf(error)}`);
  }
}
