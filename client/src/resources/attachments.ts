import type { Attachment, GetAttachmentContentQuery, Upload } from '../api-types.ts';
import type { CallOptions } from '../options.ts';
import type { Transport } from '../transport.ts';

/** File that is uploaded in one step. */
export interface FileForm {
  conversationId: string;
  name: string;
  /** Bytes, at most 10 MiB. */
  file: Blob;
  /** SHA-256 of the bytes, in hex. The service refuses bytes with another one. */
  sha256?: string;
}

/** Reads attachments of messages, and uploads files in one step. */
export class Attachments {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns an attachment. Scope: `messages:read` or `conversations:read`. */
  get(id: string, options?: CallOptions): Promise<Attachment> {
    return this.#transport.send(
      { operation: 'getAttachment', method: 'GET', path: '/api/v1/attachments/{id}', id },
      options,
    );
  }

  /** Returns the bytes of an attachment. Scope: `messages:read` or `conversations:read`. */
  getContent(id: string, query?: GetAttachmentContentQuery, options?: CallOptions): Promise<Blob> {
    return this.#transport.download(
      {
        operation: 'getAttachmentContent',
        method: 'GET',
        path: '/api/v1/attachments/{id}/content',
        id,
        query,
      },
      options,
    );
  }

  /**
   * Has the file of a FAILED attachment of a customer fetched once more. It throws a ConflictError if the
   * provider does not hand it out any more. Scope: `messages:write`.
   */
  retry(id: string, options?: CallOptions): Promise<Attachment> {
    return this.#transport.send(
      { operation: 'retryAttachment', method: 'POST', path: '/api/v1/attachments/{id}/retry', id },
      options,
    );
  }

  /** Uploads a file of at most 10 MiB in one step. It is not repeated. Scope: `messages:write`. */
  uploadFile({ conversationId, name, file, sha256 }: FileForm, options?: CallOptions): Promise<Upload> {
    const content = new FormData();
    content.set('conversationId', conversationId);
    if (sha256 !== undefined) content.set('sha256', sha256);
    content.set('file', file, name);
    return this.#transport.send(
      { operation: 'uploadFile', method: 'POST', path: '/api/v1/attachments', content },
      options,
    );
  }
}
