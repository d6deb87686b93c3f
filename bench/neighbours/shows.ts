/** Shows of the attacker: half a million events; thirty days of minutes; 300,000 devices; hardly any events. */
export const largeShow = "large";
export const daysShow = "days";
export const devicesShow = "devices";
export const quietShow = "quiet";
