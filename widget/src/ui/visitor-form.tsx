import { Component, type TargetedEvent } from 'preact';
import type { Texts } from '../locales/en';
import type { VisitorForm } from '../page-api';
import type { Visitor } from './view';

interface Props {
  form: VisitorForm;
  texts: Texts;
  onSubmit: (visitor: Visitor) => void;
}

type FieldName = keyof VisitorForm;
const TYPES = { name: 'text', email: 'email' } as const;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@.]{2,}$/;
const FIELDS: FieldName[] = ['name', 'email'];

interface State {
  values: Visitor;
  errors: Visitor;
}

export class VisitorFormFields extends Component<Props, State> {
  override state: State = { values: {}, errors: {} };

  override render({ form, texts }: Props, { values, errors }: State) {
    return (
      <form class="visitor-form" noValidate onSubmit={this.submit}>
        <p>{texts.formIntroduction}</p>
        {askedOf(form).map((name) => (
          <div key={name} class="form-field">
            <label for={name}>{texts[name]}</label>
            {form[name] === 'optional' && <span class="optional"> {texts.optional}</span>}
            <input
              id={name}
              name={name}
              type={TYPES[name]}
              list={undefined}
              autocomplete={name}
              maxLength={200}
              dir="auto"
              required={form[name] === 'required'}
              aria-invalid={Boolean(errors[name])}
              aria-describedby={errors[name] ? `${name}-error` : undefined}
              value={values[name] ?? ''}
              onInput={(event) => this.setState({ values: { ...values, [name]: event.currentTarget.value } })}
            />
            {errors[name] && (
              <p id={`${name}-error`} class="error" role="alert">
                {errors[name]}
              </p>
            )}
          </div>
        ))}
        <button type="submit" class="start">
          {texts.startChat}
        </button>
      </form>
    );
  }

  private readonly submit = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { form, texts, onSubmit } = this.props;
    const { values } = this.state;
    const said: Visitor = {};
    const errors: Visitor = {};
    for (const name of askedOf(form)) {
      const value = values[name]?.trim();
      if (value) said[name] = value;
      if (!value && form[name] === 'required') errors[name] = texts.required;
      if (value && name === 'email' && !EMAIL.test(value)) errors[name] = texts.invalidEmail;
    }
    this.setState({ errors });
    const [wrong] = Object.keys(errors);
    if (wrong) event.currentTarget.querySelector<HTMLElement>(`[name=${wrong}]`)?.focus();
    else onSubmit(said);
  };
}

function askedOf(form: VisitorForm): FieldName[] {
  return FIELDS.filter((name) => form[name]);
}
