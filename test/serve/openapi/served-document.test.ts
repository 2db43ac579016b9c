import { expect, it } from 'vitest';
import { openApiDocument } from '../../../scripts/openapi/document.js';
import { readOpenApi } from '../../support/openapi-document.js';
import { testService } from '../../support/service-suite.js';

it.each([
  ['default settings', {}],
  ['paths of its own', { SERVICE_API_PREFIX: '/guard', SERVICE_API_VERSION: 'v9' }],
  ['a port for operations', { SERVICE_OPERATIONS_PORT: '0' }],
  [
    'limits of its own',
    { SERVICE_MAX_BODY_BYTES: '70000', SERVICE_MEMORY_WINDOW_HOURS: '1', SERVICE_STRICT_DEFINITIONS: 'true' },
  ],
])('a service with %s serves what would be described for it', async (_name, settings) => {
  const described = await testService(settings, { describe: openApiDocument });
  const serving = await testService(settings);
  expect(await readOpenApi(serving.url)).toEqual(await readOpenApi(described.url));
});
