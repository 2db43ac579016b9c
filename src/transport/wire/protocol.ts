/** The protocol a content type belongs to. */
export function protocolOf(contentType: string): 'grpc' | 'grpc-web' | 'connect' {
  if (contentType.startsWith('application/grpc-web')) return 'grpc-web';
  return contentType.startsWith('application/grpc') ? 'grpc' : 'connect';
}
