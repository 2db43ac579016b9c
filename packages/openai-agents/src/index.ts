/** The OpenAI Agents SDK with the Control Enforcement Service: guarded tools and models. */
import {
  createModelCalls,
  createToolCalls,
  type FrameworkOptions,
} from '@control-enforcement/client/frameworks';
import type { Model, ModelProvider, RunToolApprovalItem, Tool } from '@openai/agents';
import { guardModel } from './guarded-model.js';
import { type Deciding, decideInterruptions, guardTool } from './guarded-tools.js';
import { createCallIds } from './local-tools.js';

export {
  type FrameworkOptions,
  isToolRefusal,
  type ModelOptions,
  type ToolRefusal,
  type WindowOptions,
} from '@control-enforcement/client/frameworks';

/** Enforcement for one agent. */
export interface Enforcement {
  /**
   * A function tool, a local shell or an editor of files that is checked before and after it runs. Tools that run at the provider
   * stay as they are. Throws a TypeError for a computer, which cannot be checked.
   */
  tool<Guarded extends Tool>(tool: Guarded): Guarded;
  /** A model whose input and output are checked. */
  model(model: Model): Model;
  /** A provider of such models, for a `Runner`. */
  modelProvider(provider: ModelProvider): ModelProvider;
  /**
   * Waits for people to decide about the interruptions of a run, and tells its state. Run the agent again with that state:
   * what is approved runs if the service then lets it pass. Returns the interruptions that need no approval of the service, such as
   * those of a tool's own `needsApproval`: the application answers them.
   */
  decide(run: {
    readonly interruptions: RunToolApprovalItem[];
    readonly state: Deciding;
  }): Promise<RunToolApprovalItem[]>;
}

export function createEnforcement(options: FrameworkOptions): Enforcement {
  const tools = createToolCalls(options);
  const models = createModelCalls(options);
  const ids = createCallIds();
  return {
    tool: (tool) => guardTool(tools, ids, tool),
    model: (model) => guardModel(models, model),
    modelProvider: (provider) => ({
      getModel: async (name) => guardModel(models, await provider.getModel(name)),
    }),
    decide: ({ interruptions, state }) => decideInterruptions(tools, ids, interruptions, state),
  };
}
