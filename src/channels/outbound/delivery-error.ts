import { DeliveryError, DeliveryErrorCode, DELIVERY_ERROR_CODES } from '../../messages/message-status';
import { ProviderFault } from '../adapters/hook-events';
import { storableText } from '../adapters/provider-values';

const MAX_LENGTH = 1_000;

/**
 * Makes the error that is stored with a message. The text is the provider's, or the service's own if there is
 * no fault.
 */
export function deliveryError(code: DeliveryErrorCode, fault?: ProviderFault | null): DeliveryError {
  return {
    code,
    providerCode: fault?.providerCode == null ? null : shorten(fault.providerCode),
    message: fault ? shorten(fault.message) : DELIVERY_ERROR_CODES[code],
  };
}

/**
 * Shortens a provider's text and makes it storable. If PostgreSQL refused the text, the attempt's outcome
 * would be lost.
 */
function shorten(text: string): string {
  return storableText(text.slice(0, MAX_LENGTH));
}
