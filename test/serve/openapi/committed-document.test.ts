import path from 'node:path';
import { expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../../scripts/compose-schema.mjs';
import { openApiDocument } from '../../../scripts/openapi/document.js';
import { readOpenApi } from '../../support/openapi-document.js';
import { testService } from '../../support/service-suite.js';

it('docs/openapi.json describes a service with default settings', async () => {
  const service = await testService({}, { describe: openApiDocument });
  const described = await readOpenApi(service.url);
  // Written by `npm run generate:openapi`.
  await expect(`${JSON.stringify(described, null, 2)}\n`).toMatchFileSnapshot(
    path.join(PACKAGE_ROOT, 'docs', 'openapi.json'),
  );
});
