import { DeliveryError, DeliveryErrorCode, DELIVERY_ERROR_CODES } from '../../messages/message-status';
import { ProviderFault } from '../adapters/hook-events';
import { storableText } from '../adapters/provider-values';

const MAX_LENGTH = 1_000;

/** Makes the error of a message: the service's code, and beside it the provider's code and message. */
export function deliveryError(code: DeliveryErrorCode, fault?: ProviderFault | null): DeliveryError {
  return {
    code,
    providerCode: fault?.providerCode == null ? null : shorten(fault.providerCode),
    message: fault ? shorten(fault.message) : DELIVERY_ERROR_CODES[code],
  };
}

/** Shortens a provider's text, and makes it storable: if PostgreSQL refused it, the outcome would be lost. */
function shorten(text: string): string {
  return storableText(text.slice(0, MAX_LENGTH));
}
