import type { Upload, UploadInput } from '../api-types.ts';
import type { CallOptions, CreateOptions } from '../options.ts';
import type { FileContent, Transport } from '../transport.ts';

/** Makes uploads: files that messages then take as attachments. Scope of all: `messages:write`. */
export class Uploads {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Makes an upload. Its content has to follow within an hour, and a message has to take it within a day.
   * Repeated attempts make only one upload.
   */
  create(upload: UploadInput, options?: CreateOptions): Promise<Upload> {
    return this.#transport.send(
      {
        operation: 'createUpload',
        method: 'POST',
        path: '/api/v1/uploads',
        body: upload,
        takesKey: true,
      },
      options,
    );
  }

  /** Sends the bytes of an upload, and returns it with their type. Repeated attempts get the same answer. */
  putContent(id: string, content: FileContent, options?: CallOptions): Promise<Upload> {
    return this.#transport.send(
      { operation: 'putUploadContent', method: 'PUT', path: '/api/v1/uploads/{id}/content', id, content },
      options,
    );
  }

  /** Returns an upload. */
  get(id: string, options?: CallOptions): Promise<Upload> {
    return this.#transport.send(
      { operation: 'getUpload', method: 'GET', path: '/api/v1/uploads/{id}', id },
      options,
    );
  }

  /** Deletes an upload that no message has taken. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.send(
      { operation: 'deleteUpload', method: 'DELETE', path: '/api/v1/uploads/{id}', id },
      options,
    );
  }
}
