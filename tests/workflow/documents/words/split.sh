tr -cs '[:alpha:]' '\n' < "$2" > words.txt && echo TERMINATED words.txt
