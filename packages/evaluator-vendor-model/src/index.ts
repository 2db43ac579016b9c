import { configJsonSchema, readConfig, type VendorConfig } from './config.js';
import { createEndpoint, DEFAULT_LIMITS, type Endpoint, type EndpointLimits } from './endpoint.js';
import { Cancelled, EndpointError } from './errors.js';
import type {
  CompiledEvaluator,
  ConfigProblem,
  EvaluatorResult,
  HostOptions,
  JsonObject,
  JsonValue,
} from './types.js';
import { fallbackResult, requestBody, resultOf } from './verdict.js';

/**
 * How much later than the configured time the service gives a check up, in milliseconds: the package gives it up
 * first, so that `on_error` decides.
 */
const MARGIN_MS = 250;

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * The `vendor.model` evaluator: asks an external model for a score. Throws when the address of the endpoint cannot be
 * used. Without key or address every check is an error.
 */
export function createEvaluator(options: HostOptions, limits: EndpointLimits = DEFAULT_LIMITS) {
  const endpoint = endpointOf(options, limits);
  const counts = { errors: 0, timeouts: 0 };

  function fallback(config: VendorConfig, error: EndpointError): EvaluatorResult {
    counts.errors += 1;
    if (error.type === 'TimeoutError') counts.timeouts += 1;
    return fallbackResult(config, error);
  }

  async function check(config: VendorConfig, data: JsonValue, given: AbortSignal): Promise<EvaluatorResult> {
    if (typeof endpoint === 'string') throw new Error(endpoint);
    const text = data === null ? '' : options.textOf(data);
    // The service writes an object as JSON, integers beyond 2^53 with all their digits.
    const body = options.textOf(requestBody(config, text));
    const start = performance.now();
    const limit = startLimit(config.timeout_ms, given);
    try {
      const reply = await endpoint.ask(body, start + config.timeout_ms, limit.signal);
      return resultOf(config, reply, performance.now() - start);
    } catch (error) {
      if (error instanceof EndpointError) return fallback(config, error);
      throw error;
    } finally {
      limit.stop();
    }
  }

  return {
    name: 'vendor.model',
    version: '3.0.0',
    description: 'Asks an external model for a score of the selected data, and compares it with a target.',
    requiresApiKey: true,
    timeoutMs: DEFAULT_TIMEOUT_MS,
    external: true as const,
    ...(typeof endpoint === 'string' ? { unavailable: endpoint } : {}),
    configJsonSchema,
    /** What is wrong with a configuration. */
    problemsOf(config: JsonObject): readonly ConfigProblem[] {
      const read = readConfig(config);
      return isProblems(read) ? read : [];
    },
    /** Throws on a configuration with problems. */
    compile(config: JsonObject): CompiledEvaluator {
      const read = readConfig(config);
      if (isProblems(read)) throw new Error(read[0]?.message ?? 'the configuration is invalid');
      return {
        timeoutMs: read.timeout_ms + MARGIN_MS,
        evaluate: (data, { signal }) => check(read, data, signal),
      };
    },
    status() {
      const { running, waiting, breaker } = typeof endpoint === 'string' ? NOT_CONFIGURED : endpoint;
      const { errors, timeouts } = counts;
      return { running, queued: waiting, breaker, answeredErrors: errors, answeredTimeouts: timeouts };
    },
  };
}

const NOT_CONFIGURED = { running: 0, waiting: 0, breaker: 'closed' } as const;

/** The endpoint, or why there is none. */
function endpointOf({ apiKey, apiUrl, log }: HostOptions, limits: EndpointLimits): Endpoint | string {
  if (apiKey === null || apiUrl === null) {
    const missing = apiKey === null ? 'VENDOR_API_KEY' : 'VENDOR_API_URL';
    const problem = `${missing} is not set, so vendor.model cannot be asked`;
    // Without both it is not in use; a control that uses it is reported when it is evaluated.
    if (apiKey !== apiUrl) log.warn({}, problem);
    return problem;
  }
  return createEndpoint({
    url: scoreUrl(apiUrl),
    apiKey,
    limits,
    onBreaker: (state) =>
      log.warn({ breaker: state }, 'the circuit breaker of vendor.model changed its state'),
  });
}

function scoreUrl(apiUrl: string): string {
  const url = URL.canParse(apiUrl) ? new URL(apiUrl) : null;
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(
      'VENDOR_API_URL: must be an address without user name, query and fragment; for example VENDOR_API_URL=https://models.example.com',
    );
  }
  return `${url.href.replace(/\/+$/, '')}/v1/score`;
}

/** A signal that is aborted after `timeoutMs`, or when `given` is. */
function startLimit(timeoutMs: number, given: AbortSignal): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const error = new EndpointError('TimeoutError', `the model did not answer within ${timeoutMs} ms`, {
      outOfOrder: true,
    });
    controller.abort(error);
  }, timeoutMs);
  const onAbort = (): void => controller.abort(new Cancelled('the check was given up'));
  given.addEventListener('abort', onAbort, { once: true });
  if (given.aborted) onAbort();
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      given.removeEventListener('abort', onAbort);
    },
  };
}

function isProblems(read: VendorConfig | readonly ConfigProblem[]): read is readonly ConfigProblem[] {
  return Array.isArray(read);
}
