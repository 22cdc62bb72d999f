"""What pages share: the session, navigation, sign-in, charts, components and the search form."""
