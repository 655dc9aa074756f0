import { IsInt, IsString, Max, validateSync } from 'class-validator';
import { rememberRules } from './known-rules';

class Base {
  @IsInt()
  count: unknown;
}

class Derived extends Base {
  @IsString({ groups: ['named'] })
  name: unknown;
}

const faultsOf = (input: object, groups?: string[]) =>
  validateSync(input, { groups }).flatMap(({ constraints }) => Object.keys(constraints ?? {}));

describe('remembered rules', () => {
  beforeAll(() => rememberRules());

  it('include rules that are added after a validation, to a class or to its base', () => {
    const input = Object.assign(new Derived(), { count: 5, name: 'a name' });
    expect(faultsOf(input)).toEqual([]);
    Max(4)(Base.prototype, 'count');
    expect(faultsOf(input)).toEqual(['max']);
  });

  it('do not replace the rules of a group', () => {
    const input = Object.assign(new Derived(), { count: 1.5, name: 7 });
    expect(faultsOf(input)).toEqual(['isString', 'isInt']);
    expect(faultsOf(input, ['named'])).toEqual(['isString']);
    expect(faultsOf(input)).toEqual(['isString', 'isInt']);
  });
});
