import path from 'node:path';
import { expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../../scripts/compose-schema.mjs';
import { readOpenApi } from '../../support/openapi-document.js';
import { testService } from '../../support/service-suite.js';

it('docs/openapi.json is the document that a service with default settings serves', async () => {
  const service = await testService();
  const served = await readOpenApi(service.url);
  // Written by `npm run generate:openapi`.
  await expect(`${JSON.stringify(served, null, 2)}\n`).toMatchFileSnapshot(
    path.join(PACKAGE_ROOT, 'docs', 'openapi.json'),
  );
});
