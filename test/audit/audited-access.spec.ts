import { accessChanges } from './changes/scenarios';
import { testChanges } from './changes/test-changes';

describe('every change of access', () => testChanges(accessChanges));
