interface Props<Value extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [Value, string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice of a few, side by side: radio buttons that look like one control. */
export function Segments<Value extends string>({ legend, options, value, onChange }: Props<Value>) {
  return (
    <fieldset class="segments">
      <legend class="hidden">{legend}</legend>
      {options.map(([option, label]) => (
        <label key={option}>
          <input type="radio" name={legend} checked={option === value} onChange={() => onChange(option)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
