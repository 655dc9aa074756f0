import { messagingChanges } from './changes/scenarios';
import { testChanges } from './changes/test-changes';

describe('every change of messaging', () => testChanges(messagingChanges));
