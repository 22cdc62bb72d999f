// Keeps in this browser who answers here, so that the link opened again goes on with the same person.

export default function ({ data, setStateValue }) {
  const place = `crowdnotes-participant-${data.comparison}`
  try {
    if (data.participant) localStorage.setItem(place, data.participant)
    else if (localStorage.getItem(place)) setStateValue("participant", localStorage.getItem(place))
  } catch {
    // This browser keeps nothing: the address of the page still says who answers.
  }
}
