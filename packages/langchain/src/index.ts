/** LangChain.js with the Control Enforcement Service: a middleware for agents, and guarded chat models. */
import {
  createModelCalls,
  createToolCalls,
  type FrameworkOptions,
} from '@control-enforcement/client/frameworks';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { Command } from '@langchain/langgraph';
import { type AgentMiddleware, createMiddleware } from 'langchain';
import { GuardedChatModel } from './guarded-chat-model.js';
import { decideInterrupts, type GraphInterruption } from './interrupts.js';
import { runGuarded } from './tool-middleware.js';

export {
  type FrameworkOptions,
  isToolRefusal,
  type ModelOptions,
  type ToolRefusal,
  type WindowOptions,
} from '@control-enforcement/client/frameworks';
export type { GuardedChatModel } from './guarded-chat-model.js';
export type { ApprovalInterrupt, GraphInterruption } from './interrupts.js';

/** Enforcement for one agent. */
export interface Enforcement {
  /** For `createAgent`: checks the tools before and after they run, and what goes to the model and comes from it. */
  readonly middleware: AgentMiddleware;
  /** A chat model whose input and output are checked, for chains and graphs without this middleware. */
  model(model: BaseChatModel): GuardedChatModel;
  /**
   * Waits for people to decide about the calls for which a graph was interrupted. Invoke the graph with the command: what is
   * approved runs if the service then lets it pass. Undefined if no call waits.
   */
  decide(interrupts: readonly GraphInterruption[]): Promise<Command | undefined>;
}

export function createEnforcement(options: FrameworkOptions): Enforcement {
  const tools = createToolCalls(options);
  const models = createModelCalls(options);
  const interrupts = options.onAsk !== 'wait';
  const guardModel = (model: unknown, sessionId?: string): GuardedChatModel => {
    if (model instanceof GuardedChatModel) return model;
    if (model instanceof BaseChatModel) return new GuardedChatModel(models, model, sessionId);
    throw new TypeError(
      'The model is no chat model that could be checked: give an instance of a chat model.',
    );
  };
  return {
    middleware: createMiddleware({
      name: 'ControlEnforcement',
      wrapToolCall: (request, handler) => runGuarded(tools, interrupts, request, handler),
      ...(options.model === false
        ? {}
        : {
            wrapModelCall: async (request, handler) => {
              const { model, runtime } = request;
              const { configurable } = runtime;
              const instance = isConfigurable(model)
                ? await model._getModelInstance({ configurable })
                : model;
              return handler({ ...request, model: guardModel(instance, configurable?.thread_id) });
            },
          }),
    }),
    model: (model) => guardModel(model),
    decide: (given) => decideInterrupts(tools, given),
  };
}

/** A model that is known by its name until it is called. */
interface ConfigurableModel {
  _getModelInstance(config: { readonly configurable: unknown }): Promise<unknown>;
}

function isConfigurable(model: object): model is ConfigurableModel {
  return '_getModelInstance' in model && typeof model._getModelInstance === 'function';
}
