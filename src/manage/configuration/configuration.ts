import type { ConfigurationService as ConfigurationServiceDesc } from '../../../gen/proto/enforcement/v1/configuration_service_pb.js';
import { type HandlersOf, handler, streamHandler } from '../../contract/call/handler.js';
import { type ApplyOptions, createConfigurationApply } from './configuration-apply.js';
import { createConfigurationExport, type ExportOptions } from './configuration-export.js';
import { createConfigurationSchemas } from './configuration-schemas.js';

export type ConfigurationOptions = ApplyOptions & ExportOptions;

/** Controls as code: applying and exporting the objects of a namespace. */
export function createConfiguration(
  options: ConfigurationOptions,
): Pick<HandlersOf<typeof ConfigurationServiceDesc>, 'applyConfiguration' | 'exportConfiguration'> {
  const schemas = createConfigurationSchemas();
  const { apply } = createConfigurationApply(options);
  const { documents } = createConfigurationExport(options);
  return {
    applyConfiguration: handler(schemas.applyConfiguration, (input, context) => apply(context, input)),
    exportConfiguration: streamHandler(schemas.exportConfiguration, (input, context) =>
      documents(context, input),
    ),
  };
}
