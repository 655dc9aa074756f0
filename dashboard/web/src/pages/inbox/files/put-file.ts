import { ApiError, errorOf } from '../../../api/client';

/** Milliseconds without progress after which a request counts as dead. */
const STALL_MS = 45_000;

/** Puts the bytes of a file. Unlike `fetch`, this reports how many of them were sent. */
export function putFile<T>(
  path: string,
  bytes: Blob,
  { onProgress, signal }: { onProgress: (sent: number) => void; signal: AbortSignal },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = () => reject(new ApiError('NETWORK', 'No answer.', 0, null));
    let timer: number | undefined;
    const wait = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => request.abort(), STALL_MS);
    };
    const abort = () => request.abort();
    request.upload.onprogress = ({ loaded }) => {
      wait();
      onProgress(loaded);
    };
    request.onerror = fail;
    request.onabort = fail;
    request.onload = () => {
      const { status, responseText } = request;
      const requestId = request.getResponseHeader('x-request-id');
      const headers = requestId === null ? undefined : { 'x-request-id': requestId };
      try {
        if (status >= 200 && status < 300) resolve(JSON.parse(responseText) as T);
        else reject(errorOf(new Response(null, { status, headers }), responseText));
      } catch {
        fail();
      }
    };
    request.onloadend = () => {
      window.clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort);
    request.open('PUT', `/api${path}`);
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.setRequestHeader('accept', 'application/json');
    wait();
    request.send(bytes);
    if (signal.aborted) abort();
  });
}
