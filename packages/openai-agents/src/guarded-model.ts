import {
  type AnswerShape,
  type ModelRequest as Asked,
  checkedStream,
  type ModelCall,
  type ModelCalls,
  type StreamShape,
} from '@control-enforcement/client/frameworks';
import { type Model, type ModelRequest, type ModelResponse, type StreamEvent, Usage } from '@openai/agents';
import { changedRequest, message, shownInput, shownOutput, textOf, withText } from './items.js';

/** A model whose input and output are checked, whole or in windows. */
export function guardModel(calls: ModelCalls, model: Model): Model {
  const given = (request: ModelRequest): Asked<ModelRequest> => ({
    request,
    messages: shownInput(request),
    change: (messages) => changedRequest(request, messages),
    signal: request.signal,
    sessionId: request.conversationId,
  });

  return {
    ...(model.supportsPromptModelSelection === undefined
      ? {}
      : { supportsPromptModelSelection: model.supportsPromptModelSelection }),
    ...(model.getRetryAdvice === undefined ? {} : { getRetryAdvice: model.getRetryAdvice.bind(model) }),

    getResponse: (request) => calls.answer(given(request), (allowed) => model.getResponse(allowed), ANSWER),

    async *getStreamedResponse(request) {
      let call: ModelCall<ModelRequest>;
      try {
        call = await calls.begin(given(request));
      } catch (error) {
        yield { type: 'response_started' };
        yield* refused(calls.refusalText(error), '');
        return;
      }
      let events: AsyncIterable<StreamEvent>;
      try {
        events = model.getStreamedResponse(call.request);
      } catch (error) {
        void call.fail(error);
        throw error;
      }
      yield* checkedStream(events, calls, call, SHAPE);
    },
  };
}

const ANSWER: AnswerShape<ModelResponse> = {
  output: ({ output, usage }) => shownOutput(output, usage),
  changed: (response, text) => ({ ...withoutData(response), output: withText(response.output, text) }),
  refused: (text, response) => ({
    ...(response === undefined ? { usage: new Usage() } : withoutData(response)),
    output: [message(text)],
  }),
};

/** A response without what its provider sent, which has the text that is not to be shown. */
function withoutData<Response extends { providerData?: unknown }>(
  response: Response,
): Omit<Response, 'providerData'> {
  const { providerData: _unchecked, ...rest } = response;
  return rest;
}

type Done = Extract<StreamEvent, { type: 'response_done' }>;

const SHAPE: StreamShape<StreamEvent> = {
  kind({ type }) {
    if (type === 'output_text_delta') return 'text';
    if (type === 'response_started') return 'passed';
    // Events of the provider, with its text in them, are not shown.
    return type === 'response_done' ? 'held' : 'dropped';
  },
  text: (event) => ({ text: event.type === 'output_text_delta' ? event.delta : '', key: '' }),
  released: (text, like) => {
    const itemId = 'itemId' in like && typeof like.itemId === 'string' ? { itemId: like.itemId } : {};
    return { type: 'output_text_delta', ...itemId, delta: text };
  },
  output(events, text) {
    const response = events.find((event): event is Done => event.type === 'response_done')?.response;
    const output = response === undefined ? { text } : shownOutput(response.output, response.usage);
    // What the parts of the text were, they are as a whole; a provider that streams no text has it here alone.
    return text === '' ? output : { ...output, text };
  },
  ending: (held, text) =>
    held.map((event) => {
      if (event.type !== 'response_done' || textOf(event.response.output) === text) return event;
      const output = withText(event.response.output, text) as Done['response']['output'];
      return { type: event.type, response: { ...withoutData(event.response), output } };
    }),
  refusal: (text, released) => refused(text, released),
};

function refused(text: string, released: string): StreamEvent[] {
  const delta = released === '' ? text : `\n${text}`;
  const usage = { requests: 1, inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const output = [message(released + delta)] as Done['response']['output'];
  return [
    { type: 'output_text_delta', delta },
    { type: 'response_done', response: { id: 'refused', usage, output } },
  ];
}
