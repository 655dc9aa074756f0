import { DeliveryError, DeliveryErrorCode, DELIVERY_ERROR_CODES } from '../../messages/message-status';
import { ProviderFault } from '../adapters/channel-adapter';

const MAX_LENGTH = 1_000;

/** Makes the error of a message: the service's code, and beside it the provider's code and message. */
export function deliveryError(code: DeliveryErrorCode, fault?: ProviderFault | null): DeliveryError {
  return {
    code,
    providerCode: fault?.providerCode == null ? null : storable(fault.providerCode),
    message: fault ? storable(fault.message) : DELIVERY_ERROR_CODES[code],
  };
}

/** Makes a provider's text storable: PostgreSQL must accept it, or the outcome would be lost. */
function storable(text: string): string {
  return text.slice(0, MAX_LENGTH).toWellFormed().replaceAll('\0', '\uFFFD');
}
