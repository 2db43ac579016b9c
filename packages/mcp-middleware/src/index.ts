/** Middleware for MCP servers: their tools are checked by the Control Enforcement Service before and after they run. */
import { randomUUID } from 'node:crypto';
import {
  type Approval,
  createToolCalls,
  type FrameworkOptions,
  isToolRefusal,
} from '@control-enforcement/client/frameworks';
import {
  answerOf,
  canAsk,
  type InputRequired,
  inputRequired,
  member,
  type Question,
  questionOf,
} from './asking.js';
import { guardServer, type Registering } from './guarded-server.js';
import { type RefusedResult, refusedResult } from './tool-results.js';

export { isToolRefusal, type ToolRefusal } from '@control-enforcement/client/frameworks';
export type { InputRequired, Question } from './asking.js';
export type { Registering } from './guarded-server.js';
export type { RefusedResult } from './tool-results.js';

/** Longest time that a call waits for a decision when the option is absent, in milliseconds: clients give up after 60 s. */
const DEFAULT_WAIT_MS = 30_000;

export interface McpOptions extends Omit<FrameworkOptions, 'model' | 'onRefused' | 'onAsk'> {
  /**
   * How a call whose step a person must approve goes on. `input_required`: the client is asked, and repeats the call, with the
   * SDK `@modelcontextprotocol/server`; it asks clients of earlier versions as they know it. `wait`: the call waits. `refuse`:
   * the model is told to repeat it. A function asks the client and resolves when the call shall go on:
   * `(question) => server.server.elicitInput(question)` with the SDK `@modelcontextprotocol/sdk`. `refuse` when absent.
   */
  readonly onAsk?:
    | 'input_required'
    | 'wait'
    | 'refuse'
    | ((question: Question) => Promise<{ action: string }>);
  /** Address of a page where an approval is decided, for clients that open pages. */
  readonly approvalUrl?: (approval: Approval) => string;
}

/** Checks the tools of one server. `Asked` is what a callback returns for a call that waits, beside results. */
export interface McpEnforcement<Asked = never> {
  /** The callback of a tool, for `registerTool`. Its step has the name of the tool and the arguments as input. */
  tool<Args extends readonly unknown[], Result>(
    name: string,
    callback: (...args: Args) => Result,
  ): (...args: Args) => Promise<Awaited<Result> | RefusedResult | Asked>;
  /**
   * Checks every tool that is registered with the server from now on, and the callbacks that they get later. Returns the server.
   * Throws an Error if it has tools already: they would run unchecked.
   */
  server<Server extends Registering>(server: Server): Server;
}

export function createEnforcement(
  options: McpOptions & { readonly onAsk: 'input_required' },
): McpEnforcement<InputRequired>;
export function createEnforcement(
  options: McpOptions & { readonly onAsk?: Exclude<McpOptions['onAsk'], 'input_required'> },
): McpEnforcement;
export function createEnforcement(options: McpOptions): McpEnforcement<InputRequired> {
  const { onAsk = 'refuse', approvalUrl, maxWaitMs = DEFAULT_WAIT_MS, ...others } = options;
  const calls = createToolCalls({ ...others, maxWaitMs, onAsk: 'interrupt', onRefused: 'result' });

  function tool<Args extends readonly unknown[], Result>(
    name: string,
    callback: (...args: Args) => Result,
  ): (...args: Args) => Promise<Awaited<Result> | RefusedResult | InputRequired> {
    return async (...args: Args): Promise<Awaited<Result> | RefusedResult | InputRequired> => {
      const context = args.at(-1);
      // A tool without arguments gets its context alone.
      const input = args.length > 1 ? args[0] : {};
      // A new id for each request: that of JSON-RPC is chosen by the client, who could name an approved call again.
      const call = {
        name,
        input,
        stepId: randomUUID(),
        sessionId: sessionOf(context),
        signal: signalOf(context),
      };
      let asked: Approval | undefined;
      const attempt = (onAsk: 'wait' | 'throw') =>
        calls.run(
          call,
          (allowed) => callback(...((args.length > 1 ? [allowed, ...args.slice(1)] : args) as Args)),
          (approval) => {
            asked = approval;
            return onAsk;
          },
        );

      const answer = onAsk === 'input_required' ? answerOf(context) : undefined;
      // A call that is repeated waits for the decision for a while: clients would otherwise ask without a pause.
      let result = await attempt(onAsk === 'wait' || answer === 'accept' ? 'wait' : 'throw');
      if (asked !== undefined && isToolRefusal(result) && result.reason === 'approval_required') {
        const question = questionOf(name, asked, approvalUrl);
        if (onAsk === 'input_required' && answer !== 'decline' && canAsk(context, question))
          return inputRequired(question);
        if (typeof onAsk === 'function' && (await onAsk(question)).action === 'accept')
          result = await attempt('wait');
      }
      return isToolRefusal(result) ? refusedResult(result) : result;
    };
  }

  return {
    tool,
    server: (server) => guardServer(tool, server),
  };
}

/** The session of a request, in the context of either SDK. */
function sessionOf(context: unknown): string | undefined {
  const id = member(context, 'sessionId');
  return typeof id === 'string' ? id : undefined;
}

/** What is aborted when the client cancels a request. */
function signalOf(context: unknown): AbortSignal | undefined {
  const signal = member(member(context, 'mcpReq'), 'signal') ?? member(context, 'signal');
  return signal instanceof AbortSignal ? signal : undefined;
}
