import {
  type DescEnum,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import { file_google_rpc_error_details } from '../../../gen/proto/google/rpc/error_details_pb.js';
import { ServerReflection as ServerReflectionV1 } from '../../../gen/proto/grpc/reflection/v1/reflection_pb.js';
import { ServerReflection as ServerReflectionV1Alpha } from '../../../gen/proto/grpc/reflection/v1alpha/reflection_pb.js';

/** Cost of one answer, in units of a simple request: descriptors are large. */
const ANSWER_UNITS = 10;

/**
 * Adds gRPC server reflection, v1 and v1alpha, for the given services. `spend` is called with the cost of
 * each answer beforehand, and fails if it exceeds the limit.
 */
export function registerReflection(
  router: ConnectRouter,
  services: readonly DescService[],
  spend: (context: HandlerContext, units: number) => void,
): void {
  const all = [...services, ServerReflectionV1, ServerReflectionV1Alpha];
  // Made for the first client that asks.
  let index: FileIndex | undefined;
  const names = all.map((service) => ({ name: service.typeName }));
  const answer = (request: { readonly host: string; readonly messageRequest: Question }) => {
    index ??= indexFiles(all);
    return {
      validHost: request.host,
      messageResponse: messageResponse(index, names, request.messageRequest),
    };
  };
  // Both versions have the same messages in different packages.
  router.service(ServerReflectionV1, {
    async *serverReflectionInfo(requests, context) {
      for await (const request of requests) {
        spend(context, ANSWER_UNITS);
        yield { ...answer(request), originalRequest: request };
      }
    },
  });
  router.service(ServerReflectionV1Alpha, {
    async *serverReflectionInfo(requests, context) {
      for await (const request of requests) {
        spend(context, ANSWER_UNITS);
        yield { ...answer(request), originalRequest: request };
      }
    },
  });
}

/** The query of a request, the same in both versions. */
type Question =
  | {
      readonly case: 'listServices' | 'fileByFilename' | 'fileContainingSymbol' | 'allExtensionNumbersOfType';
      readonly value: string;
    }
  | {
      readonly case: 'fileContainingExtension';
      readonly value: { readonly containingType: string; readonly extensionNumber: number };
    }
  | { readonly case: undefined };

interface FileIndex {
  readonly byName: Map<string, DescFile>;
  readonly bySymbol: Map<string, DescFile>;
  /** Extensions by extended message, then by number. */
  readonly extensions: Map<string, Map<number, DescFile>>;
}

function indexFiles(services: readonly DescService[]): FileIndex {
  const index: FileIndex = { byName: new Map(), bySymbol: new Map(), extensions: new Map() };
  for (const service of services) addFile(index, service.file);
  // Statuses contain these messages as Any; clients that print them request their types.
  addFile(index, file_google_rpc_error_details);
  return index;
}

function addFile(index: FileIndex, file: DescFile): void {
  if (index.byName.has(file.proto.name ?? '')) return;
  index.byName.set(file.proto.name ?? '', file);
  for (const dependency of file.dependencies) addFile(index, dependency);
  for (const message of file.messages) addMessage(index, file, message);
  for (const enumeration of file.enums) addEnum(index, file, enumeration);
  for (const extension of file.extensions) addExtension(index, file, extension);
  for (const service of file.services) {
    index.bySymbol.set(service.typeName, file);
    for (const method of service.methods) index.bySymbol.set(`${service.typeName}.${method.name}`, file);
  }
}

function addMessage(index: FileIndex, file: DescFile, message: DescMessage): void {
  index.bySymbol.set(message.typeName, file);
  for (const field of message.fields) index.bySymbol.set(`${message.typeName}.${field.name}`, file);
  for (const nested of message.nestedMessages) addMessage(index, file, nested);
  for (const nested of message.nestedEnums) addEnum(index, file, nested);
  for (const nested of message.nestedExtensions) addExtension(index, file, nested);
}

function addEnum(index: FileIndex, file: DescFile, enumeration: DescEnum): void {
  index.bySymbol.set(enumeration.typeName, file);
  // Enum values are in the same scope as their enum.
  const scope = enumeration.typeName.slice(0, enumeration.typeName.lastIndexOf('.') + 1);
  for (const value of enumeration.values) index.bySymbol.set(scope + value.name, file);
}

function addExtension(index: FileIndex, file: DescFile, extension: DescExtension): void {
  index.bySymbol.set(extension.typeName, file);
  const extended = extension.extendee.typeName;
  const numbers = index.extensions.get(extended) ?? new Map<number, DescFile>();
  index.extensions.set(extended, numbers.set(extension.number, file));
}

function messageResponse(index: FileIndex, services: { name: string }[], request: Question) {
  switch (request.case) {
    case 'listServices':
      return { case: 'listServicesResponse' as const, value: { service: services } };
    case 'fileByFilename':
      return fileResponse(index.byName.get(request.value), request.value);
    case 'fileContainingSymbol':
      return fileResponse(index.bySymbol.get(request.value), request.value);
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = request.value;
      const file = index.extensions.get(containingType)?.get(extensionNumber);
      return fileResponse(file, `extension ${extensionNumber} of ${containingType}`);
    }
    case 'allExtensionNumbersOfType': {
      if (!index.bySymbol.has(request.value))
        return errorResponse(Code.NotFound, `not found: ${request.value}`);
      const extensionNumber = [...(index.extensions.get(request.value)?.keys() ?? [])];
      return {
        case: 'allExtensionNumbersResponse' as const,
        value: { baseTypeName: request.value, extensionNumber },
      };
    }
    default:
      return errorResponse(Code.InvalidArgument, 'the request asks for nothing');
  }
}

function errorResponse(errorCode: Code, errorMessage: string) {
  return { case: 'errorResponse' as const, value: { errorCode, errorMessage } };
}

interface FileResponse {
  readonly case: 'fileDescriptorResponse';
  readonly value: { fileDescriptorProto: Uint8Array[] };
}

/** Files never change while the process runs. */
const knownResponses = new WeakMap<DescFile, FileResponse>();

/** A file with all of its dependencies, so that a client needs no second request. */
function fileResponse(file: DescFile | undefined, asked: string) {
  if (file === undefined) return errorResponse(Code.NotFound, `not found: ${asked}`);
  const known = knownResponses.get(file);
  if (known !== undefined) return known;
  const closure = new Set<DescFile>();
  const collect = (one: DescFile): void => {
    if (closure.has(one)) return;
    closure.add(one);
    for (const dependency of one.dependencies) collect(dependency);
  };
  collect(file);
  const fileDescriptorProto = [...closure].map((one) => toBinary(FileDescriptorProtoSchema, one.proto));
  const response = { case: 'fileDescriptorResponse' as const, value: { fileDescriptorProto } };
  knownResponses.set(file, response);
  return response;
}
